// Fields by message without which it would mean something else: the empty key, 1970, another log.
export const REQUIRED_FIELDS = {
  '.ttl.v1.Item': ['id', 'ts'],
  '.ttl.v1.ItemDeletion': ['id', 'ts'],
  '.ttl.v1.VisibilityCheck': ['id'],
  '.ttl.v1.HeldKey': ['id'],
  '.ttl.v1.ItemKey': ['id'],
  '.ttl.v1.GetItemRequest': ['id'],
  '.ttl.v1.ExplainItemRequest': ['id'],
  '.ttl.v1.AcknowledgeRequest': ['epoch', 'sequence'],
};
