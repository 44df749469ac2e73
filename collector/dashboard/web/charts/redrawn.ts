import type UPlot from 'uplot'

/**
 * Draws into `place` again whenever its width or colors change; `heightPx` is the height of the plot. Returns
 * a function that removes the drawing.
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

/** Returns the style of axes: soft labels and grid lines. */
export function axisStyle(place: HTMLElement) {
  const style = getComputedStyle(place)
  return {
    stroke: style.getPropertyValue('--soft'),
    grid: { stroke: style.getPropertyValue('--line'), width: 1 },
    ticks: { show: false },
  }
}
