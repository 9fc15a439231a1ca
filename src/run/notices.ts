/** Kinds of notices that a run raises; each is explained in docs/messages.md (src/cli/explain/notices.ts). */
export type NoticeCode =
  | 'asleep'
  | 'bypass'
  | 'clock_set'
  | 'disk_forecast'
  | 'disk_forecast_over'
  | 'login_held'
  | 'model_differs'
  | 'notify_failed'
  | 'permission_prompt'
  | 'price_unknown'
  | 'prices_broken'
  | 'protected_not_restored'
  | 'responses_unread'
  | 'tampered';
