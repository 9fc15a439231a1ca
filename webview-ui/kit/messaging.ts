/** What VS Code gives a page; it can be had once per load. */
interface VsCodeApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

/** One function for each type of message: a missing or a surplus one doesn't compile. */
export type Handlers<Message extends { readonly type: string }> = {
  readonly [Type in Message['type']]: (message: Extract<Message, { readonly type: Type }>) => void;
};

/** A page's line to its host, and the state that VS Code keeps for it while it is hidden or reloaded. */
export interface Host<In extends { readonly type: string }, Out> {
  post(message: Out): void;
  /** Calls the handler of each message that comes; gives back what ends it. */
  listen(handlers: Handlers<In>): () => void;
  /** What was kept last; anything at all, so readers must look at it with care. */
  saved(): unknown;
  /** Keeps a state soon: at once when the page goes. */
  save(state: unknown): void;
}

/** Wait before a changed state is kept, ms: typing is one state. */
const settle = 150;

/** Connects the page with its host. To be called once per load. */
export function connect<In extends { readonly type: string }, Out>(): Host<In, Out> {
  const api = acquireVsCodeApi();
  let pending: { readonly state: unknown } | null = null;
  let timer = 0;
  const flush = (): void => {
    window.clearTimeout(timer);
    if (pending) api.setState(pending.state);
    pending = null;
  };
  window.addEventListener('pagehide', flush);
  document.addEventListener('visibilitychange', flush);
  return {
    post: (message) => api.postMessage(message),
    listen: (handlers) => {
      const take = ({ data }: MessageEvent<unknown>): void => {
        const message = data as In;
        if (typeof message !== 'object' || message === null || !Object.hasOwn(handlers, message.type)) return;
        (handlers[message.type as In['type']] as (given: In) => void)(message);
      };
      window.addEventListener('message', take);
      return () => window.removeEventListener('message', take);
    },
    saved: () => api.getState(),
    save: (state) => {
      pending = { state };
      window.clearTimeout(timer);
      timer = window.setTimeout(flush, settle);
    },
  };
}
