import { useState } from 'preact/hooks'
import type { Erasure } from '../../../../api/client/index.ts'
import { api } from '../../api.ts'
import { AsyncList } from '../../components/asyncView.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Checkbox } from '../../components/fields.tsx'
import { Form } from '../../components/form.tsx'
import { byText } from '../../components/listTools.tsx'
import { Section } from '../../components/page.tsx'
import { RelativeTime } from '../../components/relativeTime.tsx'
import { exactTime } from '../../components/time.ts'
import { toast } from '../../components/toast.tsx'
import { useListQuery, useRepeat } from '../../useQuery.ts'
import { SubjectField, subjectOf } from './subject.tsx'

const askEveryMs = 5_000

/** Requested erasures and their progress. */
export function Erasures() {
  const erasures = useListQuery(
    (cursor) => api.listErasures({ cursor }),
    ({ erasures }) => erasures,
  )
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  const isPending = erasures.value?.some(({ status }) => status === 'pending') ?? false
  useRepeat(erasures.reload, askEveryMs, isPending)
  return (
    <Section
      title="Erasures"
      lead="Deletes all data that your sites recorded: events, rejected events and links, including those on their way."
      actions={
        <button type="button" class="danger" onClick={() => setOpen(true)}>
          Erase a person…
        </button>
      }
    >
      <AsyncList
        query={erasures}
        of="erasures"
        prefix="erasures_"
        arrangement={{
          text: ({ erasure_id, status }) => `${erasure_id} ${status}`,
          sorts: {
            oldest: { label: 'Oldest first' },
            status: {
              label: 'In progress first',
              compare: (one, other) => byText(statusOf)(other, one),
            },
          },
        }}
        empty={<p>No erasure requests.</p>}
      >
        {(erasure) => (
          <li key={erasure.erasure_id}>
            <div>
              <span class={erasure.status === 'complete' ? 'badge' : 'badge quiet'}>
                {erasure.status === 'complete' ? 'Complete' : 'In progress'}
              </span>
              <code>{erasure.erasure_id}</code>
              <p class="meta">
                Requested <RelativeTime at={erasure.requested_at} />
              </p>
              <Steps of={erasure} />
            </div>
          </li>
        )}
      </AsyncList>
      {isOpen && (
        <Dialog title="Erase a person or a browser?" close={close}>
          <Form
            values={{ opt_out: 'on' }}
            submit={async (values) => {
              await api.eraseSubject({ ...subjectOf(values), opt_out: values.opt_out === 'on' })
              close()
              toast('The erasure is in progress')
              await erasures.reload()
            }}
            action="Erase"
            tone="danger"
            cancel={close}
          >
            <p>
              This cannot be undone. When it is complete, the subject is also deleted from this
              list.
            </p>
            <SubjectField />
            <Checkbox
              name="opt_out"
              label="Also opt them out"
              hint="Otherwise their next visit is recorded again."
            />
          </Form>
        </Dialog>
      )}
    </Section>
  )
}

/** Progress of an erasure: finished, current and next steps. */
function Steps({ of: { step, emptied_at, complete_from, completed_at } }: { of: Erasure }) {
  const steps = [
    {
      name: 'Delete',
      isDone: step !== 'deleting',
      text: emptied_at ? (
        <>
          stored data deleted <RelativeTime at={emptied_at} />
        </>
      ) : (
        'stored data'
      ),
    },
    {
      name: 'Wait',
      isDone: step === 'complete',
      text: completed_at
        ? 'data on its way arrived and was deleted'
        : `data on its way, until at least ${exactTime(complete_from)}`,
    },
    {
      name: 'Forget',
      isDone: step === 'complete',
      text: completed_at ? (
        <>
          subject deleted <RelativeTime at={completed_at} />
        </>
      ) : (
        'subject'
      ),
    },
  ]
  const current = steps.find(({ isDone }) => !isDone)
  return (
    <ol class="trace" aria-label="Steps">
      {steps.map(({ name, isDone, text }) => (
        <li
          key={name}
          class={isDone ? 'yes' : 'unknown'}
          aria-current={current?.name === name && 'step'}
        >
          <span class="step">
            {name} {isDone && '✓'}
          </span>
          <div>{text}</div>
        </li>
      ))}
    </ol>
  )
}

const statusOf = ({ status }: Erasure): string => status
