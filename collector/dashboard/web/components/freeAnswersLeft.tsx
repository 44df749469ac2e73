import { records } from './amounts.ts'
import { useFreeAnswers } from './prices.ts'

/** Below this many free answers a page says how many are left. */
const fewAnswers = 100

/** How many free answers are left today, once they are few. */
export function FreeAnswersLeft() {
  const answers = useFreeAnswers()
  if (!answers || answers.left >= fewAnswers) return null
  return (
    <p class="hint" role="status">
      {`${records(answers.left)} of ${records(answers.per_day)} free answers are left today (UTC).`}
    </p>
  )
}
