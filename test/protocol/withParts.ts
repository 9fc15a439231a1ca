/**
 * A page with its generated parts replaced: what stands between `<!-- made: NAME -->` and `<!-- end -->`. Throws where the page names
 * a part that there isn't, or leaves one out.
 */
export function withParts(page: string, parts: Readonly<Record<string, string>>): string {
  const rest = new Set(Object.keys(parts));
  const text = page.replaceAll(
    /(<!-- made: (.+?) -->\n)[^]*?(<!-- end -->)/g,
    (_, start: string, name: string, end: string) => {
      if (!rest.delete(name)) throw new Error(`there is no generated part ${name}, or it stands twice`);
      return `${start}\n${parts[name]}\n\n${end}`;
    },
  );
  if (rest.size > 0) throw new Error(`the page lacks the parts ${[...rest].join(', ')}`);
  return text;
}
