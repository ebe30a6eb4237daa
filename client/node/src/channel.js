// Which calls gRPC may repeat, and how channels are kept.

// Reads change nothing, so they may be asked again.
const READS = {
  ItemService: ['CheckVisibility', 'GetItem', 'ListItems'],
  ContainerService: ['GetContainer', 'ListContainers'],
  ExpiryService: ['GetExpiryStatus', 'ListExpiryStatuses', 'ExplainItem', 'ListStuckItems'],
};
const REPORTS = { ItemService: ['TrackItems', 'UntrackItems'] };

function methodConfig(methods, codes) {
  const name = Object.entries(methods).flatMap(([service, names]) =>
    names.map((method) => ({ service: `ttl.v1.${service}`, method })),
  );
  const retryPolicy = {
    maxAttempts: 4,
    initialBackoff: '0.05s',
    maxBackoff: '0.5s',
    backoffMultiplier: 2,
    retryableStatusCodes: codes,
  };
  return { name, retryPolicy };
}

// Reports that were refused for a full queue are sent again; those of unknown fate only with
// `repeatReports`, where every entry has a sequence. What is not named is never repeated.
export function channelOptions(repeatReports) {
  const reportCodes = ['RESOURCE_EXHAUSTED', ...(repeatReports ? ['UNAVAILABLE'] : [])];
  return {
    // The address is meant, not a proxy that the environment names.
    'grpc.enable_http_proxy': 0,
    'grpc.service_config': JSON.stringify({
      loadBalancingConfig: [],
      methodConfig: [methodConfig(READS, ['UNAVAILABLE']), methodConfig(REPORTS, reportCodes)],
      retryThrottling: { maxTokens: 100, tokenRatio: 0.1 },
    }),
    // A full batch is larger than what gRPC would repeat by default.
    'grpc.per_rpc_retry_buffer_size': 4 << 20,
    // A sidecar restarts within seconds; gRPC's own pauses grow to two minutes.
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 2000,
    // Finds a peer that went away without a word; the sidecar allows a ping every 10 s.
    'grpc.keepalive_time_ms': 20000,
    'grpc.keepalive_timeout_ms': 10000,
    'grpc.keepalive_permit_without_calls': 1,
  };
}
