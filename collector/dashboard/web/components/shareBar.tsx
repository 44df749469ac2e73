/** A bar behind a row's name: the row's share of the largest row, from 0 to 1. */
export const ShareBar = ({ of }: { of: number }) => (
  <span
    class="share"
    aria-hidden="true"
    ref={(bar) => bar?.style.setProperty('width', `${100 * of}%`)}
  />
)
