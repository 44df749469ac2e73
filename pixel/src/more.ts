import type { CapturedData } from '../../schemas/captured.ts'

/** What chunks/capture.ts adds to the pixel, once it has come. */
export interface More {
  /** The chunk itself. From then on copies and videos are read at once. */
  capture?(captured: object): void
  /** Something scrolled: an element, or the document. */
  scroll?(scroller: Element | undefined): void
  /** Reads the scroll position; of the view of a URL that ends, at once. */
  read?(endOf?: string): void
  /** A new view begins. */
  restart?(): void
  /** Reads the fields of a form. The returned function tells later whether the page handled the form itself. */
  submit?(event: Event, path: Element[]): () => Pick<CapturedData<'submit'>, 'fields' | 'prevented'>
  /** The last search on this page, in a form that the page handled itself: that search counts. */
  searched?: string | undefined
}

export const more: More = {}
