/** The API's address for browsers and programs, which the service writes into the page. */
export const collectorUrl = document.querySelector<HTMLMetaElement>(
  'meta[name=collector-url]',
)!.content
