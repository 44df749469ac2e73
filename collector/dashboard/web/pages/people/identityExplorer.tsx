import { useState } from 'preact/hooks'
import { ApiError, api, messageOf } from '../../api.ts'
import { DataTable } from '../../components/dataTable.tsx'
import { TextField } from '../../components/fields.tsx'
import { Form } from '../../components/form.tsx'
import { costOf, usePrices } from '../../components/prices.ts'
import { exactTime } from '../../components/time.ts'
import { isOrganizationAdmin, useSession } from '../../session.ts'
import { urlValue } from '../../urlState.ts'
import { labelOfField } from '../../view/labels.ts'
import { FieldFacts } from '../events/fieldFacts.tsx'

type Found = Awaited<ReturnType<typeof api.lookUpCookie>>
type Link = Found['links'][number]

const personFields = 'full_name,email,job_title,company_name,linkedin_url'

const sourceNames: Readonly<Record<string, string>> = {
  identify: 'A call of identify',
  form: 'A form',
  signed: 'A signed call of identify',
  loaded: 'A loaded file',
}

const observerNames: Record<Link['observed_by'], string> = {
  organization: 'Your sites',
  operator: 'The operator of the service',
}

/** From a browser to a person: every link of the browser, which one counts, and why. */
export function IdentityExplorer({ projectId }: { projectId: string }) {
  const prices = usePrices()
  const [found, setFound] = useState<Found | null>(null)
  return (
    <>
      <p class="lead">
        Links connect a visitor’s browser to hashed e-mail addresses. One link is used, by the same
        priorities everywhere.{' '}
        {prices.value && `Charged if a person is known: ${costOf(prices.value, 'lookup', 1)}.`}
      </p>
      <Form
        action="Look up"
        values={{ cookie_id: urlValue('cookie') }}
        submit={async ({ cookie_id = '' }) =>
          setFound(await api.lookUpCookie({ project_id: projectId, cookie_id: cookie_id.trim() }))
        }
      >
        <TextField
          name="cookie_id"
          label="Visitor id"
          hint="The page of each visitor shows it, and each event has it as cookie_id."
          maxLength={36}
          required
        />
      </Form>
      {found && <Result key={found.cookie_id} found={found} />}
    </>
  )
}

function Result({ found }: { found: Found }) {
  if (!found.matched) {
    return (
      <div class="empty" role="status">
        <h2>This browser is not identified</h2>
        <p>The browser has no link, sent no event to this project, or its person opted out.</p>
      </div>
    )
  }
  return (
    <div role="status">
      <DataTable
        caption="Links"
        prefix="link-"
        columns={[
          {
            name: 'counts',
            label: 'Counts',
            value: ({ counts }: Link) => (counts ? 'yes' : null),
            show: ({ counts }: Link) => (counts ? <span class="badge">counts</span> : '–'),
          },
          { name: 'hem', label: labelOfField('hem'), value: ({ hem }: Link) => hem },
          {
            name: 'source',
            label: 'Found by',
            value: ({ source }: Link) => sourceNames[source] ?? source,
          },
          {
            name: 'by',
            label: 'Observed by',
            value: ({ observed_by }: Link) => observerNames[observed_by],
          },
          {
            name: 'confidence',
            label: 'Confidence',
            isNumber: true,
            value: ({ confidence }: Link) => confidence,
          },
          {
            name: 'observed',
            label: 'Last seen',
            value: ({ observed_at }: Link) => observed_at,
            show: ({ observed_at }: Link) => exactTime(observed_at),
          },
          { name: 'reason', label: 'Why', value: ({ reason }: Link) => reason },
        ]}
        rows={found.links}
        keyOf={({ hem, source, observed_by }) => `${hem} ${source} ${observed_by}`}
      />
      <Person hem={found.hem!} />
    </div>
  )
}

/** The person of a hashed e-mail, read after an admin of the organization agreed to pay. */
function Person({ hem }: { hem: string }) {
  const prices = usePrices()
  const [person, setPerson] = useState<Record<string, unknown> | null | undefined>(undefined)
  const [fault, setFault] = useState('')
  if (!isOrganizationAdmin(useSession())) return null
  const read = async () => {
    try {
      setPerson(
        (await api.lookUpPerson({ hem, select: personFields })).person as Record<
          string,
          unknown
        > | null,
      )
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setFault(messageOf(error))
    }
  }
  return (
    <div class="card">
      <h2>The person</h2>
      {person === undefined && (
        <p>
          <button type="button" onClick={read}>
            Show who it is
          </button>{' '}
          <span class="hint">{prices.value && costOf(prices.value, 'lookup', 1)}</span>
        </p>
      )}
      {person === null && <p>No profile has this hashed e-mail.</p>}
      {person && <FieldFacts row={person} />}
      {fault && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
    </div>
  )
}
