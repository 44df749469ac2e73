import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Params } from '../../../../api/client/index.ts'
import { api, type Budget, type Limits, type OwnProject, type UsageLimit } from '../../api.ts'
import { meterNames } from '../../components/amounts.ts'
import { Dialog } from '../../components/dialog.tsx'
import { Select, TextField } from '../../components/fields.tsx'
import { Form, type Values } from '../../components/form.tsx'
import { toast } from '../../components/toast.tsx'

/** The option for the organization in the list of projects. */
const organization = 'organization'

export function BudgetDialog({
  projects,
  budgets,
  ...dialog
}: {
  projects: OwnProject[]
  budgets: Budget[]
  saved(limits: Limits): void
  close(): void
}) {
  const [of, setOf] = useState(organization)
  const idOf = (choice: string) => (choice === organization ? null : choice)
  const current = budgets.find(({ project_id }) => project_id === idOf(of))
  return (
    <SettingDialog
      {...dialog}
      title="Set a budget"
      values={{ of, monthly: current ? String(current.monthly_micros / 1e6) : '' }}
      change={({ budgets, limits }, { of = '', monthly = '' }) => ({
        limits,
        budgets: [
          ...budgets.filter(({ project_id }) => project_id !== idOf(of)),
          ...(monthly === ''
            ? []
            : [{ project_id: idOf(of), monthly_micros: Math.round(Number(monthly) * 1e6) }]),
        ],
      })}
    >
      <Select
        name="of"
        label="For"
        options={{
          [organization]: 'The whole organization',
          ...Object.fromEntries(projects.map(({ project_id, name }) => [project_id, name])),
        }}
        onChange={setOf}
      />
      <TextField
        key={of}
        name="monthly"
        label="Dollars a month"
        hint="Reads that exceed it are refused with 402. Leave empty for no budget."
        type="number"
        min={0}
        step={0.01}
      />
    </SettingDialog>
  )
}

export function LimitDialog({
  limits,
  ...dialog
}: {
  limits: UsageLimit[]
  saved(limits: Limits): void
  close(): void
}) {
  const [of, setOf] = useState('events')
  const current = limits.find(({ meter }) => meter === of)
  const textOf = (count: number | null | undefined) => (count == null ? '' : String(count))
  const numberOf = (text: string) => (text === '' ? null : Number(text))
  return (
    <SettingDialog
      {...dialog}
      title="Set a limit"
      values={{
        of,
        daily: textOf(current?.daily_records),
        monthly: textOf(current?.monthly_records),
      }}
      change={({ budgets, limits }, { of = '', daily = '', monthly = '' }) => ({
        budgets,
        limits: [
          ...limits.filter(({ meter }) => meter !== of),
          ...(daily === '' && monthly === ''
            ? []
            : [
                {
                  meter: of as UsageLimit['meter'],
                  daily_records: numberOf(daily),
                  monthly_records: numberOf(monthly),
                },
              ]),
        ],
      })}
    >
      <Select name="of" label="Meter" options={meterNames} onChange={setOf} />
      <TextField
        key={`${of} day`}
        name="daily"
        label="Records a day"
        type="number"
        min={0}
        step={1}
      />
      <TextField
        key={`${of} month`}
        name="monthly"
        label="Records a month"
        hint="Reads that exceed it are refused with 429. Leave a field empty for no limit."
        type="number"
        min={0}
        step={1}
      />
    </SettingDialog>
  )
}

type All = Params<'setUsageLimits'>

/** Changes one budget or limit; all others stay unchanged. */
function SettingDialog({
  title,
  values,
  change,
  saved,
  close,
  children,
}: {
  title: string
  values: Values
  change(all: All, values: Values): All
  saved(limits: Limits): void
  close(): void
  children: ComponentChildren
}) {
  return (
    <Dialog title={title} close={close}>
      <Form
        values={values}
        action="Save"
        submit={async (given) => {
          const { budgets, limits } = await api.getUsageLimits()
          const all = {
            budgets: budgets.map(({ project_id, monthly_micros }) => ({
              project_id,
              monthly_micros,
            })),
            limits: limits.map(({ meter, daily_records, monthly_records }) => ({
              meter,
              daily_records,
              monthly_records,
            })),
          }
          const now = await api.setUsageLimits(change(all, given))
          toast('Saved')
          saved(now)
        }}
        cancel={close}
      >
        {children}
      </Form>
    </Dialog>
  )
}
