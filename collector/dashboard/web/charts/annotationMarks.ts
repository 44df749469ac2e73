import type UPlot from 'uplot'

/** A note at a time, milliseconds since 1970. */
export interface Mark {
  at: number
  text: string
}

/** Shows notes as lines at their times; the page lists them, too. */
export function annotationMarks(marks: readonly Mark[]): UPlot.Plugin {
  const shown: { element: HTMLElement; seconds: number }[] = []
  const place = (plot: UPlot) => {
    const { min, max } = plot.scales.x!
    for (const { element, seconds } of shown) {
      element.hidden = seconds < (min ?? 0) || seconds > (max ?? 0)
      element.style.left = `${plot.valToPos(seconds, 'x')}px`
    }
  }
  return {
    hooks: {
      init: (plot) => {
        for (const { at, text } of marks) {
          const element = document.createElement('span')
          element.className = 'annotation-mark'
          element.title = text
          shown.push({ element, seconds: at / 1_000 })
          plot.over.append(element)
        }
      },
      draw: place,
    },
  }
}
