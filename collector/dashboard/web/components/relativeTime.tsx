import { useEffect, useState } from 'preact/hooks'
import { exactDay, exactTime } from './time.ts'

// English, because it is part of an English sentence.
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

const steps: [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
]
const daysMax = 14

/** Returns a text such as "3 minutes ago"; beyond two weeks the date. */
function relativeTime(at: string): string {
  const seconds = Math.min(0, Math.round((Date.parse(at) - Date.now()) / 1000))
  if (-seconds > daysMax * 86_400) return exactDay(at)
  const [unit, length] = steps.find(([, length]) => -seconds >= length) ?? ['second', 1]
  return relative.format(Math.trunc(seconds / length), unit)
}

/** How often a text changes, by the age of its time; undefined for days. */
const moveEveryMs = (ageMs: number): number | undefined =>
  ageMs < 60_000 ? 1_000 : ageMs < 86_400_000 ? 30_000 : undefined

/** Shows how long ago a time was, and moves on with it; the exact time on hover. */
export function RelativeTime({ at }: { at: string }) {
  const [, move] = useState(0)
  const everyMs = moveEveryMs(Date.now() - Date.parse(at))
  useEffect(() => {
    if (everyMs === undefined) return
    const timer = setInterval(() => move((moves) => moves + 1), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return (
    <time dateTime={at} title={exactTime(at)}>
      {relativeTime(at)}
    </time>
  )
}
