import { useState } from 'preact/hooks'
import type { ApiRequest } from '../../api.ts'
import { money, nameOfMeter } from '../../components/amounts.ts'
import { counted } from '../../format.ts'
import { useSession } from '../../session.ts'
import { type Answered, AnswerShown, askAgain } from './answer.tsx'

/** Repeats a request with the user's session, after showing its cost, or explains why this is impossible. */
export function Replay({ request }: { request: ApiRequest }) {
  const { organization } = useSession()
  const [isAsked, setAsked] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [answered, setAnswered] = useState<Answered | null>(null)
  const [fault, setFault] = useState('')
  const hindrance = hindranceOf(request)
  if (hindrance) return <p class="hint">{hindrance}</p>
  const { target, project_id } = request
  const run = async () => {
    setBusy(true)
    setFault('')
    try {
      // A key of a project reads only that project, so the repeated request does, too.
      setAnswered(
        await askAgain(target!, organization, /[?&]project_id=/.test(target!) ? null : project_id),
      )
    } catch {
      setFault('The service did not answer.')
    }
    setBusy(false)
    setAsked(false)
  }
  return (
    <>
      {isAsked ? (
        <div class="notice" role="alert">
          <p>The request is sent again with your account and your permissions. {costOf(request)}</p>
          <div class="actions">
            <button
              type="button"
              class="primary"
              aria-disabled={isBusy}
              onClick={() => isBusy || run()}
            >
              {isBusy ? 'Please wait…' : 'Replay it'}
            </button>
            <button type="button" onClick={() => setAsked(false)}>
              Cancel
            </button>
          </div>
        </div>
      ) : (
        <button type="button" onClick={() => setAsked(true)}>
          Replay…
        </button>
      )}
      {fault && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
      {answered && <AnswerShown answered={answered} />}
    </>
  )
}

function hindranceOf({ method, target, mode }: ApiRequest): string | null {
  if (method !== 'GET')
    return 'It cannot be replayed here, because the log does not store request bodies.'
  if (target!.includes('…') || /\/:/.test(target!))
    return 'It cannot be replayed here, because the log does not store all of its parameters.'
  if (mode === 'test')
    return 'It used a test key, which reads sample data. Replay it with a test key.'
  return null
}

const costOf = ({ meter, records: charged, amount_micros }: ApiRequest): string =>
  meter === null
    ? 'It was not charged. New records in the response may be charged.'
    : `It is charged again. It was charged ${counted(charged, 'record')} on the meter ${nameOfMeter(meter)}, ${money(amount_micros)}.`
