#ifndef TTL_CLIENT_POSTGRES_STORE_ASKED_ITEM_H_
#define TTL_CLIENT_POSTGRES_STORE_ASKED_ITEM_H_

#include <string>
#include <vector>

#include "ttl/v1/primary_store_service.pb.h"

namespace ttl::postgres {

// An item of a DeleteItems request whose key fits the table. The request must outlive it.
struct AskedItem {
  int position = 0;              // index in the request
  std::vector<std::string> key;  // column texts of the partition key, then of the id
  const v1::ExpiredItem* item = nullptr;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_ASKED_ITEM_H_
