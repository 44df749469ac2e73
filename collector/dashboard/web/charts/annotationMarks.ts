import type UPlot from 'uplot'

/** A note at a time, epoch milliseconds. */
export interface Mark {
  at: number
  text: string
}

/** Shows notes as lines at their places on the horizontal axis; those without a place are not shown. */
export function annotationMarks(
  marks: readonly Mark[],
  placeOf: (at: number) => number | null,
): UPlot.Plugin {
  const shown: { element: HTMLElement; place: number }[] = []
  return {
    hooks: {
      init: ({ over }) => {
        for (const { at, text } of marks) {
          const place = placeOf(at)
          if (place === null) continue
          const element = document.createElement('span')
          element.className = 'annotation-mark'
          element.title = text
          shown.push({ element, place })
          over.append(element)
        }
      },
      draw: ({ valToPos }) => {
        for (const { element, place } of shown) element.style.left = `${valToPos(place, 'x')}px`
      },
    },
  }
}
