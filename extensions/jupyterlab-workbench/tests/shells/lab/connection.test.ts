import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PROTOCOL } from "../../../src/protocol";
import type { Comm, SessionContext, Signal } from "../../../src/shells/lab/jupyterlab";
import { connect, type Connection } from "../../../src/shells/lab/connection";

/** A Jupyter kernel that answers what it is told to. */
class FakeKernel {
  readonly sent: unknown[] = [];
  comm: Comm | null = null;
  answerComms: (comms: Record<string, unknown>) => void = () => undefined;

  readonly kernel = {
    status: "idle",
    isDisposed: false,
    connectionStatus: "connected",
    statusChanged: silent(),
    connectionStatusChanged: signal(),
    disposed: silent(),
    registerCommTarget: () => undefined,
    removeCommTarget: () => undefined,
    requestCommInfo: () =>
      new Promise((resolve) => {
        this.answerComms = (comms) => resolve({ content: { status: "ok", comms } });
      }),
    createComm: () => {
      this.comm = {
        commId: "1",
        isDisposed: false,
        onMsg: () => undefined,
        onClose: () => undefined,
        open: () => undefined,
        close: () => undefined,
        dispose: () => undefined,
        send: (request) => this.sent.push(request),
      };
      return this.comm;
    },
  };

  network(connectionStatus: string): void {
    this.kernel.connectionStatus = connectionStatus;
    this.kernel.connectionStatusChanged.send(this.kernel);
  }

  say(data: unknown): void {
    this.comm?.onMsg({ content: { data } });
  }
}

/** A signal that a test can send. */
function signal() {
  const slots = new Set<(sender: unknown) => void>();
  return {
    connect: (slot: (sender: unknown) => void) => !!slots.add(slot),
    disconnect: (slot: (sender: unknown) => void) => slots.delete(slot),
    send: (sender: unknown) => slots.forEach((slot) => slot(sender)),
  };
}
const silent = (): Signal<never, never> => ({ connect: () => true, disconnect: () => true });

let kernel: FakeKernel;
let connection: Connection;
const status = (): string => connection.transport.status();

beforeEach(() => {
  vi.useFakeTimers();
  kernel = new FakeKernel();
  const session = { session: { kernel: kernel.kernel }, ready: new Promise(() => undefined), kernelChanged: silent() };
  connection = connect(session as unknown as SessionContext, {}, () => undefined);
});
afterEach(() => {
  connection.dispose();
  vi.useRealTimers();
});

test("what keeps the answer back is told, until the answer comes", async () => {
  connection.ask();
  expect(status()).toBe("connecting");
  vi.advanceTimersByTime(1100);
  expect(status()).toBe("waiting");
  kernel.say({ type: "running" }); // the cell's program says where it is
  expect(status()).toBe("waiting");
  kernel.say({ type: "welcome" });
  expect(status()).toBe("connected");
});

test("a cell that runs after the answer changes nothing", () => {
  connection.ask();
  kernel.say({ type: "welcome" });
  expect(status()).toBe("connected");
  vi.advanceTimersByTime(5000);
  expect(status()).toBe("connected");
});

test("an answer that comes late is not taken for that to a later greeting", () => {
  connection.ask();
  connection.transport.send({ type: "hello", protocol: PROTOCOL });
  kernel.say({ type: "welcome" });
  expect(status()).toBe("connected");
  vi.advanceTimersByTime(1100);
  expect(status()).toBe("waiting");
  kernel.say({ type: "welcome" });
  expect(status()).toBe("connected");
});

test("a greeting that a lost network swallowed is not waited for", () => {
  connection.ask();
  kernel.say({ type: "welcome" });
  connection.transport.send({ type: "hello", protocol: PROTOCOL });
  kernel.network("disconnected");
  expect(status()).toBe("disconnected");
  kernel.network("connected");
  kernel.say({ type: "welcome" });
  vi.advanceTimersByTime(1100);
  expect(status()).toBe("connected");
  kernel.say({ type: "welcome" }); // the one before comes after all
  connection.transport.send({ type: "hello", protocol: PROTOCOL });
  vi.advanceTimersByTime(1100);
  expect(status()).toBe("waiting");
});

test("a cell that runs before the panel is opened is told too", async () => {
  vi.advanceTimersByTime(1100);
  expect(status()).toBe("waiting");
  kernel.answerComms({});
  await vi.advanceTimersByTimeAsync(0);
  expect(status()).toBe("empty");
});

test("a Jupyter kernel that knows no workbench is not waited for", async () => {
  connection.ask();
  kernel.comm?.onClose({ content: { data: {} } }); // it has no such target
  expect(status()).toBe("empty");
  vi.advanceTimersByTime(5000);
  expect(status()).toBe("empty");
});
