import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Comm, Kernel, SessionContext, Signal } from "../src/shells/lab/jupyterlab";
import { connect, type Connection } from "../src/shells/lab/connection";

/** A Jupyter kernel that answers what it is told to. */
class FakeKernel {
  status: Kernel["status"] = "idle";
  readonly sent: unknown[] = [];
  comm: Comm | null = null;
  answerComms: (comms: Record<string, unknown>) => void = () => undefined;

  readonly kernel = {
    isDisposed: false,
    connectionStatus: "connected",
    statusChanged: silent(),
    connectionStatusChanged: silent(),
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

  constructor() {
    Object.defineProperty(this.kernel, "status", { get: () => this.status });
  }

  say(data: unknown): void {
    this.comm?.onMsg({ content: { data } });
  }
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

test("a cell that keeps the answer back is told, until the answer comes", async () => {
  kernel.status = "busy";
  connection.ask();
  expect(status()).toBe("connecting");
  vi.advanceTimersByTime(1100);
  expect(status()).toBe("waiting");
  kernel.say({ type: "running" }); // the cell's program says where it is
  expect(status()).toBe("waiting");
  kernel.say({ type: "welcome" });
  expect(status()).toBe("connected");
});

test("a Jupyter kernel that takes its time but runs no cell is connected to as before", () => {
  connection.ask();
  vi.advanceTimersByTime(1100);
  expect(status()).toBe("connecting");
  kernel.say({ type: "welcome" });
  expect(status()).toBe("connected");
  kernel.status = "busy";
  vi.advanceTimersByTime(5000);
  expect(status()).toBe("connected");
});

test("a cell that runs before the panel is opened is told too", async () => {
  kernel.status = "busy";
  vi.advanceTimersByTime(1100);
  expect(status()).toBe("waiting");
  kernel.answerComms({});
  await vi.advanceTimersByTimeAsync(0);
  expect(status()).toBe("empty");
});
