/** How browsers and programs reach the collector; the service puts it into the page. */
export const collectorUrl = document.querySelector<HTMLMetaElement>('meta[name=collector-url]')!.content
