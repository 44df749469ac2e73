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
import { useListQuery } from '../../useQuery.ts'
import { useRepeat } from '../../useRepeat.ts'
import { SubjectField, subjectOf } from './subject.tsx'

const askEveryMs = 5_000

/** Who is to be forgotten, and how far that is. */
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
      lead="All that your sites observed of them goes: events, rejected events and links, those on their way too."
      actions={
        <button type="button" class="danger" onClick={() => setOpen(true)}>
          Erase somebody…
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
              label: 'Under way first',
              compare: (one, other) => byText(statusOf)(other, one),
            },
          },
        }}
        empty={<p>Nobody has asked to be forgotten.</p>}
      >
        {(erasure) => (
          <li key={erasure.erasure_id}>
            <div>
              <span class={erasure.status === 'complete' ? 'badge' : 'badge quiet'}>
                {erasure.status === 'complete' ? 'Complete' : 'Under way'}
              </span>
              <code>{erasure.erasure_id}</code>
              <p class="meta">
                Asked for <RelativeTime at={erasure.requested_at} />
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
              toast('The erasure is under way')
              await erasures.reload()
            }}
            action="Erase"
            tone="danger"
            cancel={close}
          >
            <p>It cannot be undone. Whom it was about is forgotten, too, when it is complete.</p>
            <SubjectField />
            <Checkbox
              name="opt_out"
              label="Opt them out, too"
              hint="Otherwise they are collected again on their next visit."
            />
          </Form>
        </Dialog>
      )}
    </Section>
  )
}

/** How far an erasure is: what is done, what it is at, and what comes then. */
function Steps({ of: { step, emptied_at, complete_from, completed_at } }: { of: Erasure }) {
  const steps = [
    {
      name: 'Delete',
      isDone: step !== 'deleting',
      text: emptied_at ? (
        <>
          nothing was stored any longer <RelativeTime at={emptied_at} />
        </>
      ) : (
        'what is stored of them'
      ),
    },
    {
      name: 'Wait',
      isDone: step === 'complete',
      text: completed_at
        ? 'what was on its way has arrived, and gone'
        : `for what was on its way, until ${exactTime(complete_from)} at least`,
    },
    {
      name: 'Forget',
      isDone: step === 'complete',
      text: completed_at ? (
        <>
          whom it was about, <RelativeTime at={completed_at} />
        </>
      ) : (
        'whom it was about'
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
