import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { TextField } from '../../components/fields.tsx'
import { Form } from '../../components/form.tsx'
import { Section } from '../../components/page.tsx'
import { costOf, usePrices } from '../../components/prices.ts'
import { counted } from '../../format.ts'
import type { Audience } from './audiences.tsx'

type Explanation = Awaited<ReturnType<typeof api.explainAudience>>

/** Explains condition by condition why a person is in an audience or not. */
export function Explain({ audience }: { audience: Audience }) {
  const prices = usePrices()
  const [answer, setAnswer] = useState<Explanation | null>(null)
  return (
    <Section
      title="Explain a member"
      lead={
        prices.value &&
        `Charged as a lookup if the person is known: ${costOf(prices.value, 'lookup', 1)}.`
      }
    >
      <Form
        action="Explain"
        submit={async ({ email = '' }) =>
          setAnswer(
            await api.explainAudience({
              project_id: audience.project_id,
              audience_id: audience.id,
              email: email.trim(),
            }),
          )
        }
      >
        <TextField name="email" label="E-mail" type="email" maxLength={254} required />
      </Form>
      {answer && (
        <div class="card" role="status">
          <p>{answer.reason}</p>
          <ul class="reasons">
            {answer.leaves.map(({ pointer, met, events }) => (
              <li key={pointer}>
                <span class={`badge ${met ? '' : 'quiet'}`}>{met ? 'met' : 'no match'}</span>{' '}
                <code>{pointer}</code>
                {events !== undefined && ` (${counted(Number(events), 'event')})`}
              </li>
            ))}
          </ul>
        </div>
      )}
    </Section>
  )
}
