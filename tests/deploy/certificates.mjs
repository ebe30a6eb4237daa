// Certificates as a cluster issues them, made by openssl for as long as a test takes.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const openssl = (...args) => execFileSync("openssl", args, { stdio: "pipe" });

const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

// An authority with its files in a folder of its own below `folder`.
export class CertificateAuthority {
  constructor(folder, name) {
    this.folder = join(folder, name);
    this.certificate = join(this.folder, "ca.crt");
    this.key = join(this.folder, "ca.key");
    mkdirSync(this.folder);
    const files = ["-keyout", this.key, "-out", this.certificate];
    openssl("req", "-x509", ...newKey, "-days", "1", "-subj", `/CN=${name}`, ...files);
  }

  // Issues a certificate for a common name and DNS names; where it and its key are.
  issue(file, { commonName, dns = [] }) {
    const certificate = join(this.folder, `${file}.crt`);
    const key = join(this.folder, `${file}.key`);
    const request = join(this.folder, `${file}.csr`);
    const extensions = join(this.folder, `${file}.ext`);
    const names = dns.map((name) => `DNS:${name}`).join(",");
    writeFileSync(extensions, names === "" ? "" : `subjectAltName=${names}\n`);
    openssl("req", ...newKey, "-subj", `/CN=${commonName}`, "-keyout", key, "-out", request);
    openssl(
      ...["x509", "-req", "-in", request, "-days", "1", "-extfile", extensions],
      ...["-CA", this.certificate, "-CAkey", this.key, "-CAcreateserial", "-out", certificate],
    );
    return { certificate, key };
  }
}
