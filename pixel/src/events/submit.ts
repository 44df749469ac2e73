import type { CapturedData } from '../../../schemas/captured.ts'
import { describe, find, masked } from '../element.ts'
import { more } from '../more.ts'
import { real, short } from '../safe.ts'

/** The fields of a form are read by chunks/capture.ts, which comes when the visitor enters a form, or now. */
export const submit = (event: Event, path: Element[]): (() => CapturedData<'submit'>) => {
  const read = more.submit?.(event, path)
  return () => ({
    form: describe(path[0]!, find(path, masked)),
    base: short(real(document, 'baseURI')),
    fields: [],
    prevented: undefined,
    ...(read || more.submit?.(event, path))?.(),
  })
}
