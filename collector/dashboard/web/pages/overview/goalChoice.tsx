import { setUrl, urlValue } from '../../urlState.ts'

const parameter = 'goal'

/** The goal of the address, whose conversions panels show. To be called while drawing. */
export const chosenGoal = (): string | undefined => urlValue(parameter) || undefined

/** Chooses the goal. */
export function GoalChoice({ goals }: { goals: readonly { name: string }[] }) {
  const chosen = chosenGoal()
  return (
    <select
      aria-label="Goal"
      value={chosen ?? ''}
      onChange={({ currentTarget: { value } }) => setUrl({ [parameter]: value })}
    >
      <option value="">No goal</option>
      {goals.map(({ name }) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  )
}
