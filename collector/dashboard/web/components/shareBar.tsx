/** Behind a row's name: how much the row is of the largest, from 0 to 1. */
export const ShareBar = ({ of }: { of: number }) => (
  <span
    class="share"
    aria-hidden="true"
    ref={(bar) => bar?.style.setProperty('width', `${100 * of}%`)}
  />
)
