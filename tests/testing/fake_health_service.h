#ifndef TTL_TESTS_TESTING_FAKE_HEALTH_SERVICE_H_
#define TTL_TESTS_TESTING_FAKE_HEALTH_SERVICE_H_

#include <grpcpp/health_check_service_interface.h>

#include <map>
#include <string>

namespace ttl {

// Records the statuses set. Not thread-safe.
class FakeHealthService : public grpc::HealthCheckServiceInterface {
 public:
  void SetServingStatus(const std::string& service, bool serving) override {
    serving_[service] = serving;
  }
  void SetServingStatus(bool serving) override {
    for (auto& [service, value] : serving_) value = serving;
  }

  const std::map<std::string, bool>& serving() const { return serving_; }

 private:
  std::map<std::string, bool> serving_;
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_FAKE_HEALTH_SERVICE_H_
