import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';

/**
 * A proxy on 127.0.0.1 that answers for hosts instead of reaching them, for a CLI that takes no other address: `HTTPS_PROXY` and
 * `NODE_EXTRA_CA_CERTS` lead there. Nothing is ever forwarded.
 */
export interface Interceptor extends AsyncDisposable {
  readonly proxy: string;
  /** The certificate to be trusted. */
  readonly ca: string;
  /** What was asked for, `POST host/path`. */
  readonly asked: readonly string[];
}

/** Starts one; `answer` gives status and JSON body, and null stands for 404. */
export async function startInterceptor(
  folder: string,
  hosts: readonly string[],
  answer: (path: string, body: string) => Promise<{ readonly status: number; readonly body: string } | null>,
): Promise<Interceptor> {
  const { key, cert, ca } = certificate(folder, hosts);
  const asked: string[] = [];
  const inner = createTlsServer({ key, cert }, (request, response) => {
    void text(request).then(async (body) => {
      asked.push(`${request.method} ${request.headers.host}${request.url}`);
      const told = await answer(request.url ?? '/', body);
      response.writeHead(told?.status ?? 404, { 'content-type': 'application/json' });
      response.end(told?.body ?? '{"error":{"type":"not_found_error","message":"nothing is here"}}');
    });
  });
  const open = new Set<Duplex>();
  const outer = createServer((_, response) => response.writeHead(400).end());
  outer.on('connect', (_, socket, head) => {
    const through = connect((inner.address() as AddressInfo).port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      through.write(head);
      through.pipe(socket);
      socket.pipe(through);
    });
    through.on('error', () => socket.destroy());
    socket.on('error', () => through.destroy());
    for (const end of [through, socket]) open.add(end.once('close', () => open.delete(end)));
  });
  for (const server of [inner, outer]) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    proxy: `http://127.0.0.1:${(outer.address() as AddressInfo).port}`,
    ca,
    asked,
    async [Symbol.asyncDispose]() {
      for (const end of open) end.destroy(); // a server does not end what it has handed over to CONNECT
      for (const server of [outer, inner]) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}

/** An authority of a day's life and its certificate for the hosts: Node has no means of making one. */
function certificate(folder: string, hosts: readonly string[]): { key: Buffer; cert: Buffer; ca: string } {
  mkdirSync(folder, { recursive: true });
  const at = (name: string): string => join(folder, name);
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'ignore' });
  const made = ['-newkey', 'rsa:2048', '-nodes', '-keyout'];
  openssl(
    'req',
    '-x509',
    ...made,
    at('ca.key'),
    '-out',
    at('ca.crt'),
    '-days',
    '1',
    '-subj',
    '/CN=authority of a test',
  );
  openssl('req', ...made, at('host.key'), '-out', at('host.csr'), '-subj', '/CN=host of a test');
  writeFileSync(at('names'), `subjectAltName=${hosts.map((host) => `DNS:${host}`).join(',')}\n`);
  const signed = ['-CA', at('ca.crt'), '-CAkey', at('ca.key'), '-CAcreateserial', '-extfile', at('names')];
  openssl('x509', '-req', '-in', at('host.csr'), ...signed, '-out', at('host.crt'), '-days', '1');
  return { key: readFileSync(at('host.key')), cert: readFileSync(at('host.crt')), ca: at('ca.crt') };
}
