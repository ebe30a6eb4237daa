#ifndef TTL_STORE_FEATURES_H_
#define TTL_STORE_FEATURES_H_

namespace ttl {

// What a PrimaryStore can do.
struct StoreFeatures {
  // Most items that the sidecar may send in one batch; 0: no limit. Of a larger batch, which it may
  // send for half a minute after the limit was lowered, the rest is put off.
  int max_batch_items = 1000;

  // Whether Scan() is implemented. With it the sidecar can reconcile and rebuild what it knows.
  bool scans = false;

  // Whether Read() and Scan() return the expire_at of items that have one. Until then the sidecar
  // deletes no item with an expire_at.
  bool knows_expire_at = false;
};

}  // namespace ttl

#endif  // TTL_STORE_FEATURES_H_
