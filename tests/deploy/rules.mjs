// Our own rules for the objects that an overlay makes: what no schema knows.
import { basename, dirname } from "node:path";
import { helpOf, settingsOfPostgres, yaml } from "./tools.mjs";

const mib = 2 ** 20;
// GB is PostgreSQL's, which means GiB by it; GiB is that of ttl-postgres.
const units = { Ki: 2 ** 10, Mi: mib, Gi: 2 ** 30, GB: 2 ** 30, GiB: 2 ** 30 };

// What the process takes besides what its flags bound: code, stacks, write buffers.
const besideMib = 128;

const owners = (objects) =>
  objects.filter((object) => ["StatefulSet", "Deployment", "Job"].includes(object.kind));
// Those that serve, which Jobs do not.
const workloads = (objects) => owners(objects).filter((object) => object.kind !== "Job");
const podsOf = (found) => found.map((object) => object.spec.template);
const pods = (objects) => podsOf(owners(objects));
const servingPods = (objects) => podsOf(workloads(objects));
const containersOf = (pod) => [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
const containers = (objects) => pods(objects).flatMap(containersOf);
const servers = (objects) => servingPods(objects).flatMap(containersOf);
const helpers = (objects) => servingPods(objects).flatMap((pod) => pod.spec.initContainers ?? []);
const sidecars = (objects) => helpers(objects).filter((c) => c.name === "ttl-sidecar");
const podOf = (objects, container) =>
  pods(objects).find((pod) => containersOf(pod).includes(container));
const running = (program) => (objects) =>
  servers(objects).filter((c) => programOf(c) === program);

const probesOf = (container) =>
  ["startupProbe", "readinessProbe", "livenessProbe"]
    .map((name) => container[name])
    .filter(Boolean);

// NaN if there is none.
function bytes(quantity) {
  const [, number, unit] = String(quantity).match(/^(\d+)(Ki|Mi|Gi|GiB|GB)$/) ?? [];
  return Number(number) * units[unit];
}

// Flags as a program's help lists them, with their defaults.
function parseFlags(help) {
  const found = help.matchAll(/^ +(?:-\w, ?)?(--[a-z][a-z-]*)(?: [^=\s]+)?(?:=(\S+))?/gm);
  return new Map([...found].map(([, flag, value]) => [flag, value]));
}

const flagsOfProgram = new Map();
function flagsOf(program, ...subcommands) {
  const key = [program, ...subcommands].join(" ");
  if (!flagsOfProgram.has(key)) {
    flagsOfProgram.set(
      key,
      program === "postgres"
        ? new Map(Object.entries(settingsOfPostgres()).map(([name, is]) => [`--${name}`, is]))
        : parseFlags(helpOf(program, ...subcommands)),
    );
  }
  return flagsOfProgram.get(key);
}

const nameOf = (argument) => argument.split("=")[0];
const programOf = (container) => container.image.split("/").at(-1).split(/[:@]/)[0];

const isFlag = (argument) => argument.startsWith("--");
const argumentsOf = (container) => container.args ?? [];

// Whether a program takes these: flags of its own or of its subcommand, which comes first.
function takes(program, words) {
  const subcommands = words.filter((word) => !isFlag(word));
  return words
    .filter(isFlag)
    .every(
      (word) =>
        flagsOf(program).has(nameOf(word)) || flagsOf(program, ...subcommands).has(nameOf(word)),
    );
}

// The value of a flag: as given, else its default.
function value(container, flag) {
  const given = argumentsOf(container).find((argument) => nameOf(argument) === flag);
  return given === undefined
    ? flagsOf(programOf(container)).get(flag)
    : given.slice(flag.length + 1);
}

// What stands behind a folder of a container: the volume, or the claim of the workload.
function volumeAt(objects, container, folder) {
  const mount = (container.volumeMounts ?? [])
    .filter((m) => folder === m.mountPath || folder.startsWith(`${m.mountPath}/`))
    .sort((a, b) => b.mountPath.length - a.mountPath.length)[0];
  return mount?.name;
}

const claimsOf = (objects, pod) =>
  (owners(objects).find((o) => o.spec.template === pod).spec.volumeClaimTemplates ?? []).map(
    (claim) => claim.metadata.name,
  );

// What the configuration file of ttl-postgres says; {} if it is not there.
function configOf(objects, container) {
  const file = value(container, "--config");
  const volume = volumeAt(objects, container, file);
  const map = podOf(objects, container).spec.volumes.find((v) => v.name === volume)?.configMap;
  const text = objects.find((o) => o.kind === "ConfigMap" && o.metadata.name === map?.name)?.data[
    basename(file)
  ];
  return text === undefined ? {} : yaml.load(text);
}

// Where a container of ours serves gRPC, and where it expects its sidecar.
const addressesOf = (objects, container) =>
  ({
    "ttl-sidecar": () => ({ serves: `unix:${value(container, "--listen-socket")}` }),
    "document-store": () => ({
      serves: value(container, "--listen"),
      sidecar: value(container, "--sidecar"),
    }),
    "ttl-postgres": () => {
      const { listen, sidecar } = configOf(objects, container);
      return { serves: listen, sidecar };
    },
  })[programOf(container)]?.() ?? {};

// Where a container of ours serves health to the kubelet.
const healthAddressOf = (objects, container) =>
  programOf(container) === "ttl-postgres"
    ? configOf(objects, container).health_listen
    : value(container, "--health-tcp");

// Whether `client` comes to where `server` serves, when it calls `address`.
function reaches(objects, client, address, server) {
  const { serves } = addressesOf(objects, server);
  const port = address.match(/^ipv4:127\.0\.0\.1(:\d+)$/)?.[1];
  if (port !== undefined) return serves?.endsWith(port) ?? false;
  const folder = dirname(address.replace(/^unix:/, ""));
  const volume = volumeAt(objects, client, folder);
  return (
    address.startsWith("unix:/") &&
    serves === address &&
    volume !== undefined &&
    volume === volumeAt(objects, server, folder)
  );
}

// The containers of its pod that report to this sidecar.
const storesOf = (objects, sidecar) =>
  containersOf(podOf(objects, sidecar)).filter((c) => {
    const address = addressesOf(objects, c).sidecar;
    return address !== undefined && reaches(objects, c, address, sidecar);
  });

// The container of its pod that ttl-postgres gives a time to live.
const databaseOf = (objects, container) =>
  containersOf(podOf(objects, container)).find((c) => programOf(c) === "postgres");

const selects = (labels, template) =>
  Object.entries(labels).every(([key, wanted]) => template.metadata.labels?.[key] === wanted);

const hasPort = (objects, port) =>
  containers(objects)
    .flatMap((c) => c.ports ?? [])
    .some((p) => p.name === port || p.containerPort === port);

// A rule for each of some things; it says which of them break it.
const every = (things, holds) => (objects) =>
  things(objects)
    .filter((thing) => !holds(thing, objects))
    .map((thing) => thing.name ?? thing.kind ?? "pod");

// What the kubelet gives a container: its own setting, else that of the pod.
const security = (objects, container, field) =>
  container.securityContext?.[field] ?? podOf(objects, container).spec.securityContext?.[field];

export const rules = {
  "a container is not root, and by number": every(
    containers,
    (c, objects) =>
      security(objects, c, "runAsNonRoot") === true && security(objects, c, "runAsUser") > 0,
  ),
  "a container cannot write its root": every(
    containers,
    (c) => c.securityContext?.readOnlyRootFilesystem === true,
  ),
  "a container cannot gain privileges": every(
    containers,
    (c) =>
      c.securityContext?.allowPrivilegeEscalation === false &&
      c.securityContext.privileged !== true,
  ),
  "a container has no capabilities": every(
    containers,
    (c) =>
      c.securityContext?.capabilities?.drop?.includes("ALL") && !c.securityContext.capabilities.add,
  ),
  "system calls are filtered": every(
    containers,
    (c, objects) => security(objects, c, "seccompProfile")?.type === "RuntimeDefault",
  ),
  "a pod has no token of the API server": every(
    pods,
    (pod) => pod.spec.automountServiceAccountToken === false,
  ),
  "a pod shares nothing with its node": every(
    pods,
    ({ spec }) =>
      !spec.hostNetwork &&
      !spec.hostPID &&
      !spec.hostIPC &&
      !spec.volumes.some((volume) => volume.hostPath),
  ),
  "volumes belong to the group of the processes": every(
    pods,
    ({ spec }) =>
      spec.securityContext?.fsGroup === spec.securityContext?.runAsGroup &&
      spec.securityContext.fsGroup > 0,
  ),
  "a container says what it needs": every(
    containers,
    (c) => c.resources?.requests?.cpu && c.resources.requests.memory && c.resources.limits?.memory,
  ),
  "an image has a version": every(
    containers,
    (c) => /(:[\w.-]+|@sha256:[0-9a-f]{64})$/.test(c.image) && !c.image.endsWith(":latest"),
  ),
  "a container says when it is ready": every(servers, (c) => c.readinessProbe !== undefined),
  "the sidecar is there, once in each pod": (objects) =>
    servingPods(objects).length === 1 && sidecars(objects).length === 1 ? [] : ["pod"],
  "a helper restarts, and so does not end the start": every(
    helpers,
    (c) => c.restartPolicy === "Always",
  ),
  "the store waits until the sidecar has started": every(
    sidecars,
    (c) => c.startupProbe !== undefined && c.livenessProbe !== undefined,
  ),
  "a probe outlives the call it makes": every(containers, (c) =>
    probesOf(c).every(
      ({ exec, timeoutSeconds = 1 }) =>
        exec === undefined ||
        timeoutSeconds >
          Number(exec.command.find((w) => /^--timeout(-seconds)?=/.test(w))?.split("=")[1]),
    ),
  ),
  "flags are flags that the program knows": every(containers, (c) =>
    takes(programOf(c), argumentsOf(c)),
  ),
  "a flag is given once": every(
    containers,
    (c) => new Set(argumentsOf(c).map(nameOf)).size === argumentsOf(c).length,
  ),
  "probes are commands that their programs know": every(containers, (c) =>
    probesOf(c).every(({ exec }) => {
      if (exec === undefined) return true;
      const [program, ...words] = exec.command;
      return program === "pg_isready" && takes(program, words);
    }),
  ),
  "gRPC probes ask for a known service at the port of health": every(servers, (c, objects) =>
    probesOf(c)
      .filter(({ grpc }) => grpc !== undefined)
      .every(
        ({ grpc: { port, service } }) =>
          healthAddressOf(objects, c) === `0.0.0.0:${port}` &&
          c.ports.some(({ containerPort }) => containerPort === port) &&
          ["startup", "readiness", "liveness"].includes(service),
      ),
  ),
  "there is time to stop, for the store before the sidecar too": every(
    sidecars,
    (c, objects) =>
      podOf(objects, c).spec.terminationGracePeriodSeconds >=
      2 * Number(value(c, "--stop-deadline-seconds")),
  ),
  "the memory limit covers what the flags allow": every(
    sidecars,
    (c) =>
      bytes(c.resources.limits.memory) >=
      mib *
        (besideMib +
          ["--cache-mib", "--block-cache-mib", "--max-queued-mib", "--rpc-memory-mib"].reduce(
            (sum, flag) => sum + Number(value(c, flag)),
            0,
          )),
  ),
  "the store finds the sidecar, by a socket": every(sidecars, (c, objects) =>
    storesOf(objects, c).some((store) => addressesOf(objects, store).sidecar.startsWith("unix:")),
  ),
  "the sidecar finds the store": every(sidecars, (c, objects) =>
    containersOf(podOf(objects, c)).some(
      (store) =>
        addressesOf(objects, store).sidecar !== undefined &&
        reaches(objects, c, value(c, "--store"), store),
    ),
  ),
  "who waits for the database does not keep it from starting": every(
    running("ttl-postgres"),
    (c) => c.startupProbe === undefined,
  ),
  "ttl-postgres finds the database, by a socket": every(running("ttl-postgres"), (c, objects) => {
    const folder = c.env.find(({ name }) => name === "PGHOST")?.value;
    const database = databaseOf(objects, c);
    return (
      database !== undefined &&
      folder === value(database, "--unix_socket_directories") &&
      volumeAt(objects, c, folder) !== undefined &&
      volumeAt(objects, c, folder) === volumeAt(objects, database, folder)
    );
  }),
  "the database keeps for ttl-postgres what it needs, and has room for it": every(
    running("ttl-postgres"),
    (c, objects) => {
      const database = databaseOf(objects, c);
      if (database === undefined) return false;
      const data = database.env.find(({ name }) => name === "PGDATA").value;
      const claim = owners(objects)
        .flatMap((o) => o.spec.volumeClaimTemplates ?? [])
        .find(({ metadata }) => metadata.name === volumeAt(objects, database, data));
      const kept = bytes(value(database, "--max_slot_wal_keep_size"));
      return (
        value(database, "--wal_level") === "logical" &&
        value(database, "--track_commit_timestamp") === "on" &&
        bytes(configOf(objects, c).max_slot_bytes) < kept &&
        2 * kept <= bytes(claim.spec.resources.requests.storage)
      );
    },
  ),
  "the metadata outlive the pod, or are rebuilt": every(sidecars, (c, objects) => {
    const volume = volumeAt(objects, c, value(c, "--data-dir"));
    return (
      claimsOf(objects, podOf(objects, c)).includes(volume) ||
      (volume !== undefined &&
        c.args.some((argument) => nameOf(argument) === "--rebuild-from-store"))
    );
  }),
  "files that flags name are mounted": every(containers, (c, objects) =>
    argumentsOf(c)
      .filter((a) => /^--(config|containers|.*-file)=/.test(a))
      .every((a) => volumeAt(objects, c, a.split("=")[1]) !== undefined),
  ),
  "a mount has its volume, and a volume its mount": every(pods, (pod, objects) => {
    const there = [...pod.spec.volumes.map((v) => v.name), ...claimsOf(objects, pod)].sort();
    const used = new Set(
      containersOf(pod)
        .flatMap((c) => c.volumeMounts ?? [])
        .map((m) => m.name),
    );
    return JSON.stringify(there) === JSON.stringify([...used].sort());
  }),
  "config maps and claims of a pod are among the objects": every(pods, (pod, objects) =>
    pod.spec.volumes.every(({ configMap, persistentVolumeClaim }) =>
      [
        ["ConfigMap", configMap?.name],
        ["PersistentVolumeClaim", persistentVolumeClaim?.claimName],
      ].every(
        ([kind, name]) =>
          name === undefined || objects.some((o) => o.kind === kind && o.metadata.name === name),
      ),
    ),
  ),
  "a selector selects its pods": every(workloads, (w) =>
    selects(w.spec.selector.matchLabels, w.spec.template),
  ),
  "a service leads to a port": every(
    (objects) => objects.filter((o) => o.kind === "Service"),
    ({ spec }, objects) =>
      pods(objects).some((pod) => selects(spec.selector, pod)) &&
      spec.ports.every((port) => hasPort(objects, port.targetPort)),
  ),
  "a StatefulSet has its service": every(
    (objects) => objects.filter((o) => o.kind === "StatefulSet"),
    ({ spec }, objects) =>
      objects.some((o) => o.kind === "Service" && o.metadata.name === spec.serviceName),
  ),
  "a pod monitor leads to a port where metrics are": every(
    (objects) => objects.filter((o) => o.kind === "PodMonitor"),
    ({ spec }, objects) =>
      pods(objects).some((pod) => selects(spec.selector.matchLabels, pod)) &&
      spec.podMetricsEndpoints.every(({ port }) =>
        helpers(objects).some((c) => {
          const number = c.ports?.find((p) => p.name === port)?.containerPort;
          const metrics =
            programOf(c) === "ttl-postgres"
              ? configOf(objects, c).metrics_listen
              : value(c, "--metrics-listen");
          return metrics?.endsWith(`:${number}`);
        }),
      ),
  ),
  "a network policy selects the pods": every(
    (objects) => objects.filter((o) => o.kind === "NetworkPolicy"),
    ({ spec }, objects) =>
      pods(objects).some((pod) => selects(spec.podSelector.matchLabels, pod)) &&
      spec.policyTypes.includes("Ingress") &&
      spec.policyTypes.includes("Egress"),
  ),
  "where there are network policies, each pod has one": (objects) => {
    const policies = objects.filter((o) => o.kind === "NetworkPolicy");
    const isSelected = (pod) =>
      policies.some(({ spec }) => selects(spec.podSelector.matchLabels, pod));
    return policies.length === 0 || pods(objects).every(isSelected) ? [] : ["pod"];
  },
  "whoever calls over TCP shows a certificate, which says what it may do": every(sidecars, (c) => {
    const flags = c.args.map(nameOf);
    const needed = ["--tls-cert-file", "--tls-key-file", "--tls-client-ca-file", "--access-file"];
    return (
      !flags.includes("--insecure-tcp") &&
      (!flags.includes("--listen-tcp") ||
        (needed.every((flag) => flags.includes(flag)) &&
          !value(c, "--listen-tcp").includes("roles=")))
    );
  }),
};

// The rules that these objects break, each with what breaks it.
export function broken(objects) {
  return Object.entries(rules)
    .map(([rule, violators]) => [rule, violators(objects)])
    .filter(([, violators]) => violators.length > 0)
    .map(([rule, violators]) => `${rule}: ${violators}`);
}
