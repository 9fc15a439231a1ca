import { Link, type LinkAnswer, type LinkFailure } from './link.ts';

/** How long a session waits for a controller that is being restarted, ms. */
export const defaultPatienceMs = 60_000;
const firstWaitMs = 50;
const longestWaitMs = 1000;
/** An outage is told once it has lasted this long, ms. */
const quietMs = 1500;

/** The controller, whichever process it is at the moment: a call that finds it away is made again until patience ends. */
export interface Controller {
  /** One call, made again on another connection when the controller restarts in between; only for calls that may be repeated. */
  call(method: string, params: object, timeoutMs: number): Promise<LinkAnswer>;
  /** A notification that only makes sense while the connection stands; false when it did not get through. */
  tell(method: string, params: object): Promise<boolean>;
  close(): Promise<void>;
}

/** A controller behind a socket. `onOutage` is told once, when an outage begins to be felt. */
export function controllerAt(given: {
  readonly socket: string;
  readonly patienceMs: number;
  readonly onOutage: (detail: string) => void;
}): Controller {
  let link: Link | undefined;
  let told = false;

  const linked = async (): Promise<Link | LinkFailure> => {
    if (link && !link.isGone) return link;
    const opened = await Link.open(given.socket);
    if (opened instanceof Link) link = opened;
    return opened;
  };
  const once = async (method: string, params: object, timeoutMs: number): Promise<LinkAnswer> => {
    const opened = await linked();
    return opened instanceof Link ? opened.request(method, params, timeoutMs) : { ok: false, failure: opened };
  };
  return {
    async call(method, params, timeoutMs) {
      let wait = firstWaitMs;
      let awaySince: number | undefined;
      for (;;) {
        const answer = await once(method, params, timeoutMs);
        if (answer.ok || answer.failure.kind !== 'away') return answer;
        awaySince ??= performance.now();
        const away = performance.now() - awaySince;
        if (away >= given.patienceMs) return answer;
        if (!told && away > quietMs) {
          told = true;
          given.onOutage(answer.failure.detail);
        }
        await new Promise((resolve) => setTimeout(resolve, Math.min(wait, given.patienceMs - away)));
        wait = Math.min(longestWaitMs, wait * 2);
      }
    },
    async tell(method, params) {
      const opened = await linked();
      return opened instanceof Link && opened.notify(method, params);
    },
    async close() {
      await link?.close();
    },
  };
}
