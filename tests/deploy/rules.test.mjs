// That each of our rules can be broken: one object damaged for each.
import assert from "node:assert/strict";
import { test } from "node:test";
import { broken, rules } from "./rules.mjs";
import { manifests, render, yaml } from "./tools.mjs";

const production = render(`${manifests}/overlays/production`);
const postgres = render(`${manifests}/overlays/postgres-monitoring`);

const workload = (objects) => objects.find((object) => object.kind === "StatefulSet");
const pod = (objects) => workload(objects).spec.template;
const sidecar = (objects) => pod(objects).spec.initContainers[0];
const store = (objects) => pod(objects).spec.containers[0];
const ttlPostgres = (objects) => pod(objects).spec.initContainers[1];
const of = (objects, kind) => objects.find((object) => object.kind === kind);

const drop = (container, flag) => {
  container.args = container.args.filter((argument) => !argument.startsWith(`${flag}=`));
};
const replace = (container, flag, value) => {
  drop(container, flag);
  container.args.push(`${flag}=${value}`);
};

const configure = (objects, change) => {
  const { data } = objects.find((o) => o.data?.["ttl-postgres.yaml"]);
  const config = yaml.load(data["ttl-postgres.yaml"]);
  change(config);
  data["ttl-postgres.yaml"] = yaml.dump(config);
};

// [the rule, how to break it, what breaks besides].
const damages = [
  [
    "a container is not root, and by number",
    (o) => {
      pod(o).spec.securityContext.runAsUser = 0;
    },
  ],
  [
    "a container is not root, and by number",
    (o) => {
      store(o).securityContext.runAsNonRoot = false;
    },
  ],
  [
    "a container cannot write its root",
    (o) => {
      delete store(o).securityContext.readOnlyRootFilesystem;
    },
  ],
  [
    "a container cannot gain privileges",
    (o) => {
      sidecar(o).securityContext.allowPrivilegeEscalation = true;
    },
  ],
  [
    "a container has no capabilities",
    (o) => {
      sidecar(o).securityContext.capabilities.add = ["NET_ADMIN"];
    },
  ],
  [
    "system calls are filtered",
    (o) => {
      delete pod(o).spec.securityContext.seccompProfile;
    },
  ],
  [
    "a pod has no token of the API server",
    (o) => {
      delete pod(o).spec.automountServiceAccountToken;
    },
  ],
  [
    "a pod shares nothing with its node",
    (o) => {
      pod(o).spec.hostPID = true;
    },
  ],
  [
    "volumes belong to the group of the processes",
    (o) => {
      delete pod(o).spec.securityContext.fsGroup;
    },
  ],
  [
    "a container says what it needs",
    (o) => {
      delete store(o).resources.limits;
    },
  ],
  [
    "an image has a version",
    (o) => {
      store(o).image = "document-store:latest";
    },
  ],
  [
    "an image has a version",
    (o) => {
      store(o).image = "registry.example:5000/document-store";
    },
  ],
  [
    "a container says when it is ready",
    (o) => {
      delete store(o).readinessProbe;
    },
  ],
  [
    "the sidecar is there, once in each pod",
    (o) => {
      sidecar(o).name = "other";
    },
  ],
  [
    "a helper restarts, and so does not end the start",
    (o) => {
      delete sidecar(o).restartPolicy;
    },
  ],
  [
    "the store waits until the sidecar has started",
    (o) => {
      delete sidecar(o).startupProbe;
    },
  ],
  [
    "gRPC probes ask for a known service at the port of health",
    (o) => {
      sidecar(o).readinessProbe.grpc.service = "ready";
    },
  ],
  [
    "gRPC probes ask for a known service at the port of health",
    (o) => {
      sidecar(o).livenessProbe.grpc.port = 7070;
    },
  ],
  [
    "gRPC probes ask for a known service at the port of health",
    (o) => {
      replace(sidecar(o), "--health-tcp", "127.0.0.1:7072");
    },
  ],
  [
    "flags are flags that the program knows",
    (o) => {
      sidecar(o).args.push("--max-deletes=5");
    },
  ],
  [
    "flags are flags that the program knows",
    (o) => {
      store(o).args.push("--data=5");
    },
  ],
  [
    "a flag is given once",
    (o) => {
      sidecar(o).args.push("--call-threads=3");
    },
  ],
  [
    "there is time to stop, for the store before the sidecar too",
    (o) => {
      pod(o).spec.terminationGracePeriodSeconds = 29;
    },
  ],
  [
    "the memory limit covers what the flags allow",
    (o) => {
      replace(sidecar(o), "--cache-mib", "512");
    },
  ],
  [
    "the store finds the sidecar, by a socket",
    (o) => {
      replace(sidecar(o), "--listen-socket", "/tmp/s");
    },
  ],
  [
    "the store finds the sidecar, by a socket",
    (o) => {
      store(o).volumeMounts[0].name = "documents";
    },
  ],
  [
    "the store finds the sidecar, by a socket",
    (o) => {
      replace(store(o), "--sidecar", "localhost:7070");
    },
  ],
  [
    "the sidecar finds the store",
    (o) => {
      replace(sidecar(o), "--store", "ipv4:127.0.0.1:7072");
    },
  ],
  [
    "the sidecar finds the store",
    (o) => {
      replace(store(o), "--listen", "unix:/run/ttl-sidecar/store.sock");
    },
  ],
  [
    "the metadata outlive the pod, or are rebuilt",
    (o) => {
      replace(sidecar(o), "--data-dir", "/run/ttl-sidecar/db");
    },
  ],
  [
    "files that flags name are mounted",
    (o) => {
      replace(sidecar(o), "--tls-key-file", "/etc/tls/tls.key");
    },
  ],
  [
    "a mount has its volume, and a volume its mount",
    (o) => {
      pod(o).spec.volumes.push({ name: "left", emptyDir: {} });
    },
  ],
  [
    "config maps and claims of a pod are among the objects",
    (o) => {
      of(o, "ConfigMap").metadata.name = "x";
    },
  ],
  [
    "a selector selects its pods",
    (o) => {
      workload(o).spec.selector.matchLabels.more = "x";
    },
  ],
  [
    "a service leads to a port",
    (o) => {
      of(o, "Service").spec.ports[0].targetPort = "grpc";
    },
  ],
  [
    "a StatefulSet has its service",
    (o) => {
      workload(o).spec.serviceName = "x";
    },
  ],
  [
    "a pod monitor leads to a port where metrics are",
    (o) => {
      of(o, "PodMonitor").spec.podMetricsEndpoints[0].port = "ttl";
    },
  ],
  [
    "a network policy selects the pods",
    (o) => {
      of(o, "NetworkPolicy").spec.policyTypes = ["Ingress"];
    },
  ],
  [
    "whoever calls over TCP shows a certificate, which says what it may do",
    (o) => {
      drop(sidecar(o), "--tls-client-ca-file");
    },
  ],
  [
    "whoever calls over TCP shows a certificate, which says what it may do",
    (o) => {
      replace(sidecar(o), "--listen-tcp", "0.0.0.0:7070,roles=admin");
    },
  ],
];

const postgresDamages = [
  [
    "where there are network policies, each pod has one",
    (o) => {
      o.splice(o.indexOf(of(o, "NetworkPolicy")), 1);
    },
  ],
  [
    "a container is not root, and by number",
    (o) => {
      of(o, "Job").spec.template.spec.securityContext.runAsUser = 0;
    },
  ],
  [
    "a container says what it needs",
    (o) => {
      delete of(o, "Job").spec.template.spec.containers[0].resources;
    },
  ],
  [
    "flags are flags that the program knows",
    (o) => {
      of(o, "Job").spec.template.spec.containers[0].args.push("--dry-run");
    },
  ],
  [
    "flags are flags that the program knows",
    (o) => {
      store(o).args.push("--max_wal_keep_size=1GB");
    },
  ],
  [
    "files that flags name are mounted",
    (o) => {
      replace(ttlPostgres(o), "--config", "/etc/postgres/ttl-postgres.yaml");
    },
  ],
  [
    "a helper restarts, and so does not end the start",
    (o) => {
      delete ttlPostgres(o).restartPolicy;
    },
  ],
  [
    "a probe outlives the call it makes",
    (o) => {
      delete store(o).readinessProbe.timeoutSeconds;
    },
  ],
  [
    "probes are commands that their programs know",
    (o) => {
      store(o).readinessProbe.exec.command.push("--socket=x");
    },
  ],
  [
    "probes are commands that their programs know",
    (o) => {
      store(o).readinessProbe.exec.command[0] = "psql";
    },
  ],
  [
    "gRPC probes ask for a known service at the port of health",
    (o) => {
      configure(o, (config) => {
        delete config.health_listen;
      });
    },
  ],
  [
    "gRPC probes ask for a known service at the port of health",
    (o) => {
      ttlPostgres(o).livenessProbe.grpc.port = 7072;
    },
  ],
  [
    "the sidecar finds the store",
    (o) => {
      configure(o, (config) => {
        config.listen = "unix:/run/ttl-sidecar/other.sock";
      });
    },
  ],
  [
    "the store finds the sidecar, by a socket",
    (o) => {
      configure(o, (config) => {
        config.sidecar = "unix:/run/other/sidecar.sock";
      });
    },
  ],
  [
    "the sidecar finds the store",
    (o) => {
      ttlPostgres(o).volumeMounts[0].name = "postgres-socket";
    },
    ["the store finds the sidecar, by a socket"],
  ],
  [
    "who waits for the database does not keep it from starting",
    (o) => {
      ttlPostgres(o).startupProbe = ttlPostgres(o).livenessProbe;
    },
  ],
  [
    "ttl-postgres finds the database, by a socket",
    (o) => {
      replace(store(o), "--unix_socket_directories", "/tmp");
    },
  ],
  [
    "ttl-postgres finds the database, by a socket",
    (o) => {
      ttlPostgres(o).env = [];
    },
  ],
  [
    "ttl-postgres finds the database, by a socket",
    (o) => {
      store(o).volumeMounts.find((m) => m.name === "postgres-socket").name = "postgres-tmp";
    },
  ],
  [
    "the database keeps for ttl-postgres what it needs, and has room for it",
    (o) => {
      drop(store(o), "--wal_level");
    },
  ],
  [
    "the database keeps for ttl-postgres what it needs, and has room for it",
    (o) => {
      drop(store(o), "--max_slot_wal_keep_size");
    },
  ],
  [
    "the database keeps for ttl-postgres what it needs, and has room for it",
    (o) => {
      replace(store(o), "--max_slot_wal_keep_size", "32GB");
    },
  ],
  [
    "the database keeps for ttl-postgres what it needs, and has room for it",
    (o) => {
      configure(o, (config) => {
        config.max_slot_bytes = "8GiB";
      });
    },
  ],
  [
    "a pod monitor leads to a port where metrics are",
    (o) => {
      configure(o, (config) => {
        delete config.metrics_listen;
      });
    },
  ],
];

test("every rule is broken once at least", () => {
  assert.deepEqual(
    new Set([...damages, ...postgresDamages].map(([rule]) => rule)),
    new Set(Object.keys(rules)),
  );
});

for (const [sound, [rule, damage, besides = []]] of [
  ...damages.map((each) => [production, each]),
  ...postgresDamages.map((each) => [postgres, each]),
]) {
  test(`${rule}: ${damage.toString().replace(/\s+/g, " ").slice(7)}`, () => {
    const objects = structuredClone(sound);
    damage(objects);
    const names = broken(objects).map((line) => line.split(": ")[0]);
    assert.ok(names.includes(rule), `broken are ${names}`);
    for (const name of besides) assert.ok(names.includes(name), `broken are ${names}`);
  });
}
