import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it, onTestFinished } from 'vitest';
import { createMessageConnection, SocketMessageReader, SocketMessageWriter } from 'vscode-jsonrpc/node';

import { diskGrowth } from '../../src/analysis/disk.ts';
import { attach } from '../../src/client/connection.ts';
import { runFiles } from '../../src/ledger/places.ts';
import { clientRequests, protocolVersion } from '../../src/protocol/client.ts';
import { after } from '../laws/aState.ts';

it('a controller of an earlier version, whose state knows no disks, is attached to', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hma-older-'));
  const clientSocket = join(folder, 'client');
  const state = { ...after([1]), disk: undefined };
  const server = createServer((socket) => {
    const connection = createMessageConnection(new SocketMessageReader(socket), new SocketMessageWriter(socket));
    connection.onRequest(clientRequests.attach, () => ({
      ...{ protocol: protocolVersion, version: 'earlier', runFolder: folder, seq: state.seq, state, missed: [] },
    }));
    connection.listen();
  });
  await new Promise<void>((resolve) => server.listen(clientSocket, resolve));
  onTestFinished(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });
  writeFileSync(runFiles(folder).endpoint, JSON.stringify({ clientSocket, pid: process.pid }));
  const connection = await attach(folder);
  onTestFinished(() => connection?.close());
  expect(connection?.state).toEqual({ ...state, disk: [] });
  expect(connection?.state && diskGrowth(connection.state.disk)).toBeNull();
});
