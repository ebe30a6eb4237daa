// Runs the pod of an overlay as processes on this machine: the real programs, with the
// flags and probes of the manifests. Volumes are folders; addresses are moved to where a
// test may listen.
import { execFile, execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { CertificateAuthority } from "./certificates.mjs";
import { postgresPrograms, repository } from "./tools.mjs";

const deadlineMs = 60_000;

// What the certificate of the sidecar is for: its pod, by the headless service.
export const serverName = "document-store-0.document-store.shop.svc.cluster.local";

// Waits until a condition holds.
export async function eventually(what, condition) {
  const end = Date.now() + deadlineMs;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`it never came that ${what}`);
    await delay(50);
  }
}

// How long a container that has ended waits before it is started again.
const restartMs = 200;

const nameOfImage = (container) => container.image.split("/").at(-1).split(/[:@]/)[0];

// PostgreSQL refuses to run as root, which a test may be.
const asPostgres =
  process.getuid() === 0
    ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--pdeathsig=KILL"]
    : [];

// The TCP port that serves `what`, by the log of a sidecar that may have been restarted.
const lastPort = (log, what) =>
  [...log.matchAll(/ msg="listening" (?:tcp=\S+ port=|address="?\S+:)(\d+)"? .*serves=(\w+)/g)]
    .filter(([, , serves]) => serves === what)
    .at(-1)?.[1];

export class Pod {
  constructor(objects) {
    const workload = objects.find((o) => ["StatefulSet", "Deployment"].includes(o.kind));
    this.spec = workload.spec.template.spec;
    this.service = workload.spec.serviceName;
    this.objects = objects;
    this.folder = mkdtempSync(join(tmpdir(), "ttl-pod-"));
    // Of the cluster, for servers and clients.
    this.authority = new CertificateAuthority(this.folder, "cluster-ca");
    this.secrets = new Map();
    this.processes = new Map();
    this.stopping = new Set();
    for (const claim of workload.spec.volumeClaimTemplates ?? [])
      this.#makeVolume(claim.metadata.name);
    for (const volume of this.spec.volumes) this.#fill(volume);
  }

  // Carries out what the kubelet does: one helper after the other, each with its startup probe,
  // then the containers; and waits until all are ready.
  async start() {
    this.processes.clear();
    this.stopping.clear();
    for (const helper of this.spec.initContainers) {
      this.#spawn(helper);
      if (helper.startupProbe) {
        await this.#until(`${helper.name} has started`, () =>
          this.probe("startupProbe", helper.name),
        );
      }
    }
    for (const container of this.spec.containers) this.#spawn(container);
    for (const container of [...this.spec.containers, ...this.spec.initContainers])
      await this.#until(`${container.name} is ready`, () => this.#isReady(container));
  }

  // Whether a probe of a container succeeds.
  async probe(name, container = "ttl-sidecar") {
    const { exec, grpc } = this.#container(container)[name];
    const { code } = grpc
      ? await this.#askHealth(container, grpc.service)
      : await this.runIn(container, ...exec.command);
    return code === 0;
  }

  // As the kubelet calls it: in plain text, at the address that --health-tcp or health_listen
  // opens.
  async #askHealth(container, service) {
    const { output } = this.processes.get(container);
    const port = lastPort(output, "health");
    if (port === undefined) return { code: 1 };
    return this.run("ttlctl", "--server", `127.0.0.1:${port}`, "health", `--service=${service}`);
  }

  // Runs a program of the image as within the container of the sidecar.
  run(program, ...args) {
    return this.runIn("ttl-sidecar", program, ...args);
  }

  // Runs a program as within a container.
  runIn(name, program, ...args) {
    const container = this.#container(name);
    const ofPostgres = ["pg_isready", "psql"].includes(program);
    const folder = ofPostgres ? postgresPrograms : process.env.TTL_BIN;
    const socket = join(this.folder, this.#volumeAt(container, "/run/ttl-sidecar"), "sidecar.sock");
    const env = { ...this.#environment(container), TTL_SIDECAR_ADDRESS: `unix:${socket}` };
    return this.#execute(join(folder, program), this.#moved(container, args), env);
  }

  // Carries out a Job to its end: again after each failure, as OnFailure says; its log.
  async runJob(name) {
    const job = this.objects.find((o) => o.kind === "Job" && o.metadata.name === name);
    const [container] = job.spec.template.spec.containers;
    const program = join(process.env.TTL_BIN, nameOfImage(container));
    const args = this.#moved(container, container.args);
    let last;
    await this.#until(`${name} is done`, async () => {
      last = await this.#execute(program, args, this.#environment(container));
      this.jobLog = last.stderr;
      return last.code === 0;
    });
    return last.stdout;
  }

  // Runs statements over the socket of PostgreSQL as a role whose password is in the Secret.
  async sql(role, secretKey, statements) {
    const { stdout, stderr, code } = await this.#execute(
      join(postgresPrograms, "psql"),
      ["-XqAt", "-v", "ON_ERROR_STOP=1", "-c", statements],
      {
        PGHOST: join(this.folder, "postgres-socket"),
        PGDATABASE: "shop",
        PGUSER: role,
        PGPASSWORD: this.#secret({ name: "postgres-passwords", key: secretKey }),
      },
    );
    if (code !== 0) throw new Error(`${statements}: ${stderr}`);
    return stdout.trim();
  }

  // Runs ttlctl as a caller outside of the pod, who reaches the TCP address that --listen-tcp
  // opens, with what `tls` says of the connection.
  runOutside(tls, ...args) {
    const { output } = this.processes.get("ttl-sidecar");
    const server = `127.0.0.1:${lastPort(output, "all")}`;
    return this.run("ttlctl", "--server", server, ...tls, ...args);
  }

  // The store first, then the helpers from the last to the first, as the kubelet does; their
  // exit codes.
  async stop() {
    const codes = {};
    for (const name of [...this.processes.keys()].reverse())
      codes[name] = await this.stopContainer(name);
    return codes;
  }

  // One of them, which is not started again; its exit code.
  async stopContainer(name) {
    this.stopping.add(name);
    const child = this.processes.get(name);
    // The image of PostgreSQL asks for SIGINT.
    child.kill(nameOfImage(this.#container(name)) === "postgres" ? "SIGINT" : "SIGTERM");
    const end = this.spec.terminationGracePeriodSeconds * 1000;
    const killer = setTimeout(() => child.kill("SIGKILL"), end);
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    clearTimeout(killer);
    return child.exitCode ?? child.signalCode;
  }

  // Ends whatever still runs, and removes the folder.
  async dispose() {
    for (const [name, child] of this.processes) {
      this.stopping.add(name);
      if (child.kill("SIGKILL")) await once(child, "exit");
    }
    rmSync(this.folder, { recursive: true });
  }

  #container(name) {
    return [...this.spec.initContainers, ...this.spec.containers].find((c) => c.name === name);
  }

  #makeVolume(name) {
    mkdirSync(join(this.folder, name), { recursive: true });
    return join(this.folder, name);
  }

  #fill({ name, configMap, secret }) {
    const folder = this.#makeVolume(name);
    if (secret) this.#writeSecret(folder);
    if (!configMap) return;
    const { data } = this.objects.find(
      (o) => o.kind === "ConfigMap" && o.metadata.name === configMap.name,
    );
    const reader = [...this.spec.initContainers, ...this.spec.containers].find((c) =>
      c.volumeMounts.some((mount) => mount.name === name),
    );
    for (const [file, text] of Object.entries(data))
      writeFileSync(join(folder, file), this.#movedText(reader, text));
  }

  // A value of a Secret that is not among the objects.
  #secret({ name, key }) {
    const id = `${name}/${key}`;
    if (!this.secrets.has(id)) this.secrets.set(id, randomUUID());
    return this.secrets.get(id);
  }

  // A certificate, its key and its CA, as cert-manager makes a Secret of them.
  #writeSecret(folder) {
    const { certificate, key } = this.authority.issue("server", {
      commonName: "ttl-sidecar",
      dns: [serverName],
    });
    copyFileSync(certificate, join(folder, "tls.crt"));
    copyFileSync(key, join(folder, "tls.key"));
    copyFileSync(this.authority.certificate, join(folder, "ca.crt"));
  }

  #volumeAt(container, folder) {
    return container.volumeMounts.find(({ mountPath }) => mountPath === folder)?.name ?? "sockets";
  }

  // A text with mounted paths and addresses as they are here.
  #movedText(container, text) {
    const folders = new Map(container.volumeMounts.map((m) => [m.mountPath, m.name]));
    const longestFirst = [...folders.keys()].sort((a, b) => b.length - a.length);
    return text
      .replace(
        new RegExp(`(^|[=: ])(${longestFirst.join("|")})(?=/|$)`, "gm"),
        (_, before, folder) => before + join(this.folder, folders.get(folder)),
      )
      .replace(/([=:] ?)0\.0\.0\.0:\d+$/gm, "$1127.0.0.1:0");
  }

  // The arguments likewise. A store that listens on TCP has a socket here.
  #moved(container, args) {
    const store = `unix:${join(this.folder, "sockets/store.sock")}`;
    return args.map((argument) =>
      this.#movedText(
        container,
        argument.replace(
          /=ipv4:127\.0\.0\.1:7071$|(?<=^--listen)=0\.0\.0\.0:7071$/,
          `=${store}`,
        ),
      ),
    );
  }

  // The variables of a container. Over the network the database is reached by its service.
  #environment({ env = [], ...container }) {
    const valueOf = ({ value, valueFrom }) =>
      valueFrom
        ? this.#secret(valueFrom.secretKeyRef)
        : value === this.service
          ? join(this.folder, "postgres-socket")
          : this.#movedText(container, value);
    return {
      // What a store has had all along waits for so long; a minute of it would show nothing more.
      TTL_SIDECAR_POLICY_GRACE_SECONDS: "1",
      ...Object.fromEntries(env.map((variable) => [variable.name, valueOf(variable)])),
    };
  }

  #execute(program, args, env) {
    return new Promise((resolve) => {
      execFile(program, args, { env }, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, stdout, stderr }),
      );
    });
  }

  // What runs in a container: its command line, and its environment.
  #processOf(container) {
    const args = this.#moved(container, container.args);
    const env = this.#environment(container);
    if (nameOfImage(container) !== "postgres")
      return { command: [join(process.env.TTL_BIN, nameOfImage(container)), ...args], env };
    this.#giveToPostgres();
    const [scripts] = this.#moved(container, ["/docker-entrypoint-initdb.d"]);
    const [tmp] = this.#moved(container, ["/tmp"]);
    return {
      command: [
        ...asPostgres,
        join(repository, "tests/deploy/postgres_image.sh"),
        ...args,
        "--listen_addresses=",
      ],
      env: { ...env, INITDB_SCRIPTS: scripts, TMPDIR: tmp },
    };
  }

  #giveToPostgres() {
    chmodSync(this.folder, 0o755);
    if (asPostgres.length === 0) return;
    for (const name of readdirSync(this.folder).filter((file) => file.startsWith("postgres-")))
      execFileSync("chown", ["postgres:postgres", join(this.folder, name)]);
  }

  #spawn(container, output = "") {
    const {
      command: [program, ...args],
      env,
    } = this.#processOf(container);
    const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    child.output = output;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (text) => {
        child.output += text;
      });
    }
    child.on("exit", async () => {
      if (container.restartPolicy !== "Always") return;
      await delay(restartMs);
      const isCurrent = this.processes.get(container.name) === child;
      if (isCurrent && !this.stopping.has(container.name)) this.#spawn(container, child.output);
    });
    this.processes.set(container.name, child);
  }

  // By its probe, or, without a port that could be tried, by what it says.
  #isReady({ name, readinessProbe }) {
    return (readinessProbe.exec ?? readinessProbe.grpc)
      ? this.probe("readinessProbe", name)
      : this.processes.get(name).output.includes('msg="ready"');
  }

  async #until(what, condition) {
    const end = Date.now() + deadlineMs;
    while (!(await condition())) {
      const ended = this.spec.containers
        .map(({ name }) => this.processes.get(name))
        .find((child) => child && (child.exitCode ?? child.signalCode) !== null);
      if (ended || Date.now() > end) {
        const outputs = [...this.processes].map(([name, child]) => `${name}:\n${child.output}`);
        throw new Error(`it never came that ${what}\n${outputs.join("\n")}\n${this.jobLog ?? ""}`);
      }
      await delay(50);
    }
  }
}
