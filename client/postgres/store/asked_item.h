#ifndef TTL_CLIENT_POSTGRES_STORE_ASKED_ITEM_H_
#define TTL_CLIENT_POSTGRES_STORE_ASKED_ITEM_H_

#include <string>
#include <vector>

#include "ttl/v1/primary_store_service.pb.h"

namespace ttl::postgres {

// An item of a DeleteItems that can be a row of its table. The request outlives it.
struct AskedItem {
  int position = 0;              // in the request
  std::vector<std::string> key;  // texts of the columns of partition key and id
  const v1::ExpiredItem* item = nullptr;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_ASKED_ITEM_H_
