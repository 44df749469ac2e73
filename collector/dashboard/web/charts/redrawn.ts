import type UPlot from 'uplot'

/**
 * Keeps what `draw` draws into `place` as wide as it is and in its colors; `heightPx` is that of the plot. Returns what
 * removes it.
 */
export function redrawn(place: HTMLElement, heightPx: number, draw: () => UPlot): () => void {
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  let plot = draw()
  const redraw = () => {
    plot.destroy()
    plot = draw()
  }
  scheme.addEventListener('change', redraw)
  const resizes = new ResizeObserver(() =>
    plot.setSize({ width: place.clientWidth, height: heightPx }),
  )
  resizes.observe(place)
  return () => {
    scheme.removeEventListener('change', redraw)
    resizes.disconnect()
    plot.destroy()
  }
}

/** How charts look here: axes in soft ink, lines between. */
export function axisStyle(place: HTMLElement) {
  const style = getComputedStyle(place)
  return {
    stroke: style.getPropertyValue('--soft'),
    grid: { stroke: style.getPropertyValue('--line'), width: 1 },
    ticks: { show: false },
  }
}
