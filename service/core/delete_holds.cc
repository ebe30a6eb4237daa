#include "service/core/delete_holds.h"

namespace ttl {

std::vector<DeleteHold> ComputeDeleteHolds(const HoldInputs& in) {
  std::vector<DeleteHold> holds;
  const auto add_if = [&holds](bool condition, DeleteHold hold) {
    if (condition) holds.push_back(hold);
  };
  const ContainerSettings& settings = in.container.settings;
  const bool in_grace = !in.container.replaced_policies.empty() &&
                        in.container.replaced_policies.back().until > in.time.for_deletes;
  const bool store_held =
      in.store.held_until.has_value() && *in.store.held_until > in.time.for_deletes;

  add_if(!settings.policy.default_ttl.has_value(), DeleteHold::kTtlOff);
  add_if(!in.store.configured, DeleteHold::kNoStore);
  add_if(in.all_paused.has_value(), DeleteHold::kAllPaused);
  add_if(in.container.pause.has_value(), DeleteHold::kContainerPaused);
  add_if(!in.time.deletes_allowed, DeleteHold::kClockSuspect);
  add_if(in.store.skew_too_large, DeleteHold::kClockSkew);
  add_if(store_held, DeleteHold::kStore);
  add_if(!in.storage_writable, DeleteHold::kStorage);
  add_if(in.allowed_per_second.has_value() && *in.allowed_per_second <= 0, DeleteHold::kZeroRate);
  add_if(in.change_under_way, DeleteHold::kChangeUnderWay);
  add_if(in_grace, DeleteHold::kGrace);
  add_if(in.container.index_build.has_value(), DeleteHold::kIndexBuilding);
  add_if(in.waiting_for_rate, DeleteHold::kRate);
  return holds;
}

bool StopsDeletes(DeleteHold hold) {
  return hold != DeleteHold::kGrace && hold != DeleteHold::kIndexBuilding &&
         hold != DeleteHold::kRate;
}

}  // namespace ttl
