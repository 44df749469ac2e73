import { Link } from '../router.tsx'
import type { Place } from '../routes.ts'

/** The name of the file with the icons, which the build sets. */
declare const NAVIGATION_ICONS: string

/** The icon of a page of the navigation by its name, in the color of the text. */
export const NavIcon = ({ of }: { of: string }) => (
  <svg class="nav-icon" aria-hidden="true">
    <use href={`/dashboard/assets/${NAVIGATION_ICONS}#${of.toLowerCase().replaceAll(' ', '-')}`} />
  </svg>
)

/** The named pages of the navigation as links; the current one is marked. */
export function NavLinks({
  places,
  others = [],
  address,
  path,
  search = '',
}: {
  places: readonly Place[]
  /** Pages of the same navigation that are in another list. */
  others?: readonly Place[]
  address(place: Place): string
  path: string
  /** The query for pages with a view. */
  search?: string
}) {
  const named = places.filter(({ name }) => name !== undefined)
  const current = bestOf([...named, ...others.filter(({ name }) => name)].map(address), path)
  return (
    <>
      {named.map((place) => {
        const href = address(place)
        return (
          <li key={href}>
            <Link
              href={place.hasView ? href + search : href}
              aria-current={href === current ? (href === path ? 'page' : 'true') : undefined}
            >
              <NavIcon of={place.name!} />
              {place.name}
            </Link>
          </li>
        )
      })}
    </>
  )
}

/**
 * Returns the most specific address that contains the path, because a project's address is a prefix of its
 * pages'.
 */
const bestOf = (addresses: string[], path: string): string | undefined =>
  addresses
    .filter((href) => path === href || path.startsWith(`${href}/`))
    .sort((one, other) => other.length - one.length)[0]
