/** A wall-clock moment for a person, in this machine's zone: the time of day, with the date where it is another day than `now`; Unix ms. */
export function sayMoment(at: number, now: number): string {
  const shown = new Date(at);
  const two = (value: number): string => String(value).padStart(2, '0');
  const time = `${two(shown.getHours())}:${two(shown.getMinutes())}`;
  const day = (date: Date): string => `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return day(shown) === day(new Date(now)) ? time : `${day(shown)} ${time}`;
}
