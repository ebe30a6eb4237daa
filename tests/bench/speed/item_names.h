#ifndef TTL_TESTS_BENCH_SPEED_ITEM_NAMES_H_
#define TTL_TESTS_BENCH_SPEED_ITEM_NAMES_H_

#include <cstdint>
#include <string>

// The keys of the items that are loaded, all of one length and numbered, so that a
// prepared request is made another one by overwriting digits.
namespace ttl::bench {

// A hundred items share a partition key.
std::string PartitionKeyOf(uint64_t item);
std::string IdOf(uint64_t item);

// Overwrites the digits at the end of a key of another item.
void RenumberPartitionKey(std::string& partition_key, uint64_t item);
void RenumberId(std::string& id, uint64_t item);

// Partition key and id joined by a colon, for stores that have one key.
std::string JoinedKeyOf(uint64_t item);

// The same for the joined key that ends at `end`, and for the database's keys, where
// the id follows the partition key without a colon.
void RenumberJoinedKey(char* end, uint64_t item);
void RenumberDatabaseKey(std::string& key, uint64_t item);

// Goes through all numbers of 32 bits in an order without order: neighbours in time are
// no neighbours among the keys, as with writes of many users.
uint64_t Scattered(uint64_t sequence);

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_SPEED_ITEM_NAMES_H_
