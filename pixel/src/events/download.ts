import { settings } from '../config.ts'
import { attribute, closest, decoded, link } from '../element.ts'
import { capture } from '../queue.ts'

/** A click on a link that is marked as a download, or whose file name looks like one. */
export const downloadOf = (target: Element): void => {
  const anchor = closest(target, 'a[href]')
  const href = anchor && link(anchor, 'href')
  if (!href) return
  const marked = attribute(anchor, 'download')
  const filename = marked || decoded(/[^/]*$/.exec(href.split(/[?#]/)[0]!)![0])
  const extension = (/\.([^.]{1,100})$/.exec(filename)?.[1] || '').toLowerCase()
  if (marked !== null || settings.download_extensions.includes(extension)) {
    capture('download', { href, filename, extension })
  }
}
