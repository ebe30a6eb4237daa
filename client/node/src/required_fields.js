// Fields of a key and its time, by message. Absent they would be the empty key, or 1970.
export const REQUIRED_FIELDS = {
  '.ttl.v1.Item': ['id', 'ts'],
  '.ttl.v1.ItemDeletion': ['id', 'ts'],
  '.ttl.v1.VisibilityCheck': ['id'],
  '.ttl.v1.HeldKey': ['id'],
  '.ttl.v1.GetItemRequest': ['id'],
  '.ttl.v1.ExplainItemRequest': ['id'],
};
