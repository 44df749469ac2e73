import { exactTime } from './time.ts'

/** A time in the page's time zone. In a narrow column, the day and the clock time take a line each. */
export function Moment({ at }: { at: string }) {
  const text = exactTime(at)
  const clock = /\s(\d{1,2}\D\d\d.*)$/.exec(text)
  return (
    <time dateTime={at}>
      {clock ? (
        <>
          <span class="unbroken">{text.slice(0, clock.index)}</span>{' '}
          <span class="unbroken">{clock[1]}</span>
        </>
      ) : (
        text
      )}
    </time>
  )
}
