import { useEffect, useRef } from 'preact/hooks';

/**
 * A question in place, before something that is recorded: words, an optional reason, two buttons. Takes the focus when it comes;
 * Escape is "no".
 */
export function Ask(props: {
  readonly title: string;
  readonly text: string;
  readonly yes: string;
  /** The reason so far, where one is wanted. */
  readonly reason?: string;
  onReason?: (reason: string) => void;
  onYes: () => void;
  onNo: () => void;
}) {
  const { title, text, yes, reason, onReason, onYes, onNo } = props;
  const form = useRef<HTMLDivElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>('textarea, button.quiet')?.focus(), []);
  const wanting = reason !== undefined && reason.trim() === '';
  const keys = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') onNo();
    else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !wanting) onYes();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="ask" role="group" aria-label={title} ref={form} onKeyDown={keys}>
      <p class="ask-title">{title}</p>
      <p class="ask-text">{text}</p>
      {reason !== undefined && (
        <label class="field">
          <span>Reason (recorded)</span>
          <textarea
            rows={3}
            maxLength={4000}
            value={reason}
            onInput={(event) => onReason?.(event.currentTarget.value)}
          />
        </label>
      )}
      <div class="buttons">
        <button
          type="button"
          class="primary"
          aria-disabled={wanting}
          onClick={() => (wanting ? form.current?.querySelector('textarea')?.focus() : onYes())}
        >
          {yes}
        </button>
        <button type="button" class="quiet" onClick={onNo}>
          Cancel
        </button>
      </div>
    </div>
  );
}
