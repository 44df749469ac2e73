/** The address of the API for browsers and programs; the service puts it into the page. */
export const collectorUrl = document.querySelector<HTMLMetaElement>(
  'meta[name=collector-url]',
)!.content
