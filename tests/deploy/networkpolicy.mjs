// What network policies allow, by the rules of Kubernetes, between pods of one cluster.

// The objects of an overlay name no namespace: they are in one of their own.
const home = "shop";

// A pod: where it is, and its labels.
export const podAt = (namespace, labels = {}) => ({ namespace, labels });
export const podHere = (labels) => podAt(home, labels);

function selects({ matchLabels = {}, ...others }, labels) {
  if (Object.keys(others).length > 0) throw new Error("only matchLabels are understood here");
  return Object.entries(matchLabels).every(([key, wanted]) => labels[key] === wanted);
}

function isPeer({ namespaceSelector, podSelector = {}, ...others }, pod) {
  if (Object.keys(others).length > 0) throw new Error("only selectors are understood here");
  const isThere =
    namespaceSelector === undefined
      ? pod.namespace === home
      : selects(namespaceSelector, { "kubernetes.io/metadata.name": pod.namespace });
  return isThere && selects(podSelector, pod.labels);
}

const isPort = ({ port, protocol = "TCP" }, wanted) => `${port}/${protocol}` === wanted;

// A part of a rule that is left out lets everything pass.
const passes = ({ peers, ports }, pod, port) =>
  (peers === undefined || peers.some((peer) => isPeer(peer, pod))) &&
  (ports === undefined || ports.some((each) => isPort(each, port)));

const rulesOf = (spec, type) =>
  type === "Ingress"
    ? (spec.ingress ?? []).map(({ from, ports }) => ({ peers: from, ports }))
    : (spec.egress ?? []).map(({ to, ports }) => ({ peers: to, ports }));

// A pod that no policy selects may do everything, one of several what any of them allows.
function lets(objects, type, pod, other, port) {
  const policies = objects.filter(
    ({ kind, spec }) =>
      kind === "NetworkPolicy" &&
      pod.namespace === home &&
      spec.policyTypes.includes(type) &&
      selects(spec.podSelector, pod.labels),
  );
  const rules = policies.flatMap(({ spec }) => rulesOf(spec, type));
  return policies.length === 0 || rules.some((rule) => passes(rule, other, port));
}

// Whether one pod can open a connection to a port of another: "5432/TCP".
export const connects = (objects, from, to, port) =>
  lets(objects, "Egress", from, to, port) && lets(objects, "Ingress", to, from, port);
