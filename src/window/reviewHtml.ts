/** Addresses and secrets of one load of the page. */
export interface PageParts {
  /** `webview.cspSource` */
  readonly source: string;
  readonly nonce: string;
  readonly script: string;
  readonly style: string;
  readonly title: string;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/**
 * The document of a page. Nothing but its own script and stylesheet may load: no inline script or style, no network, no frames, no
 * forms; what the page styles by itself goes through the CSS object model, which this policy allows.
 */
export const pageHtml = ({ source, nonce, script, style, title }: PageParts): string => `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'nonce-${nonce}'; style-src ${source} 'nonce-${nonce}'; font-src ${source}; img-src ${source}; form-action 'none'; base-uri 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="stylesheet" nonce="${nonce}" href="${escaped(style)}">
</head>
<body>
<div id="page"></div>
<noscript>This page needs scripts.</noscript>
<script type="module" nonce="${nonce}" src="${escaped(script)}"></script>
</body>
</html>
`;
