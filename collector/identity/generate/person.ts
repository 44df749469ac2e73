import {
  ageRanges,
  creditRatings,
  departments,
  dwellingTypes,
  educationLevels,
  emailStatuses,
  generations,
  incomeRanges,
  maritalStatuses,
  netWorthRanges,
  seniorities,
} from '../../../schemas/fields/vocabulary.ts'
import { dayMs } from '../../platform/days.ts'
import type { Random } from '../../platform/seededRandom.ts'
import { phoneIn, pickSome, postalCodeIn, rangeOf, slug, type Values } from './values.ts'
import {
  companyFirst,
  companySecond,
  firstNames,
  interests,
  jobFunctions,
  jobSkills,
  lastNames,
  mailHosts,
  occupations,
  places,
  purchases,
  streets,
  technologies,
  titles,
  vehicles,
} from './words.ts'

/** A fixed year, because the current year would change the generated people. */
const thisYear = 2026
const verifiedFromMs = Date.UTC(thisYear - 1, 0, 1)

/**
 * Returns the person number `index`, who works for `company`: a value for each contact and demographic field,
 * some of them null. Addresses contain the number, so no two people share one.
 */
export function makePerson(random: Random, index: number, company: Values): Values {
  const known = <T>(probability: number, value: T) => (random.chance(probability) ? value : null)
  const gender = random.chance(0.02) ? 'other' : random.pick(['female', 'male'] as const)
  const first = random.pick(firstNames[gender]!)
  const last = random.pick(lastNames)
  const middle = known(0.3, random.pick(firstNames[gender]!))
  const handle = `${slug(first)}-${slug(last)}-${index.toString(36)}`
  const isEmployed = random.chance(0.85)
  const place = random.pick(places)
  return {
    first_name: first,
    middle_name: middle,
    last_name: last,
    full_name: [first, middle, last].filter(Boolean).join(' '),
    ...addresses(random, { handle, company, isEmployed }),
    ...phones(random, place),
    ...profilesElsewhere(random, handle),
    ...work(random, { company, isEmployed }),
    ...home(random, place),
    ...household(random, gender),
    ...taste(random),
  }
}

interface Employment {
  company: Values
  isEmployed: boolean
}

function addresses(
  random: Random,
  { handle, company, isEmployed }: Employment & { handle: string },
): Values {
  const local = handle.replaceAll('-', '.')
  const business = isEmployed ? `${local}@${company.company_domain}` : null
  const personal = business && random.chance(0.3) ? null : `${local}@${random.pick(mailHosts)}`
  return {
    email: business ?? personal,
    email_status: random.chance(0.8) ? 'valid' : random.pick(emailStatuses),
    email_verified_at: new Date(verifiedFromMs + random.integer(0, 364) * dayMs).toISOString(),
    business_email: business,
    personal_email: personal,
    additional_emails: random.chance(0.15) ? `${local}.old@${random.pick(mailHosts)}` : null,
  }
}

function phones(random: Random, place: (typeof places)[number]): Values {
  const number = (probability: number) =>
    random.chance(probability) ? phoneIn(random, place) : null
  const direct = number(0.35)
  const mobile = number(0.6)
  const home = number(0.25)
  const phone = direct ?? mobile ?? home
  return {
    phone,
    direct_phone: direct,
    mobile_phone: mobile,
    do_not_call: phone && random.chance(0.2),
    home_phone: home,
  }
}

const profilesElsewhere = (random: Random, handle: string): Values => ({
  linkedin_url: random.chance(0.75) ? `https://www.linkedin.com/in/${handle}` : null,
  twitter_url: random.chance(0.2) ? `https://x.com/${handle}` : null,
  facebook_url: random.chance(0.3) ? `https://www.facebook.com/${handle}` : null,
  github_url: random.chance(0.08) ? `https://github.com/${handle}` : null,
})

function work(random: Random, { company, isEmployed }: Employment): Values {
  const seniority = seniorities[Math.floor(random.next() ** 0.6 * seniorities.length)]!
  const department = random.pick(departments)
  const job = random.pick(jobFunctions[department]!)
  const title = titles[seniority]!.replace('{department}', department).replace('{function}', job)
  const isHigh = seniorities.indexOf(seniority) < 4
  const years = random.integer(1, 35)
  const before = `${random.pick(companyFirst)}${random.pick(companySecond)}`
  const whenEmployed = <T>(value: T) => (isEmployed ? value : null)
  return {
    ...(isEmployed ? company : {}),
    linkedin_headline:
      isEmployed && random.chance(0.6) ? `${title} at ${company.company_name}` : null,
    job_title: whenEmployed(random.chance(0.15) ? `${title} (${job})` : title),
    job_seniority: whenEmployed(seniority),
    job_department: whenEmployed(department),
    job_function: whenEmployed(job),
    job_is_decision_maker: whenEmployed(isHigh),
    job_start_year: whenEmployed(thisYear - random.integer(0, Math.min(12, years))),
    job_city: whenEmployed(company.company_city ?? null),
    job_region: whenEmployed(company.company_region ?? null),
    job_country: whenEmployed(company.company_country ?? null),
    previous_job_title: random.chance(0.5) ? `${job} Specialist` : null,
    previous_company_name: random.chance(0.5) ? before : null,
    years_of_experience: random.chance(0.7) ? years : null,
    skills: random.chance(0.7)
      ? pickSome(random, [...jobSkills[department]!, ...technologies], 2, 7)
      : null,
  }
}

function home(random: Random, place: (typeof places)[number]): Values {
  const known = <T>(probability: number, value: T) => (random.chance(probability) ? value : null)
  const isOwner = random.chance(0.6)
  const near = () => Math.round((random.next() - 0.5) * 3_000) / 10_000
  return {
    timezone: place.timezone,
    home_street_address: known(0.7, `${random.integer(1, 2_400)} ${random.pick(streets)} Street`),
    home_city: place.city,
    home_region: place.region,
    home_postal_code: known(0.85, postalCodeIn(random, place)),
    home_country: place.country,
    home_latitude: Math.round((place.latitude + near()) * 10_000) / 10_000,
    home_longitude: Math.round((place.longitude + near()) * 10_000) / 10_000,
    is_home_owner: isOwner,
    dwelling_type: known(0.7, isOwner ? random.pick(dwellingTypes) : 'apartment'),
    home_value_usd: isOwner ? random.integer(80, 1_500) * 1_000 : null,
    residence_years: known(0.5, random.integer(0, 30)),
  }
}

const ageSteps = [24, 34, 44, 54, 64]
const bornSince = [1997, 1981, 1965, 1946]

function household(random: Random, gender: string): Values {
  const known = <T>(probability: number, value: T) => (random.chance(probability) ? value : null)
  const age = random.integer(18, 82)
  const birthYear = thisYear - age
  const children = age < 60 && random.chance(0.45) ? random.integer(1, 4) : 0
  const adults = random.integer(1, 3)
  const income = random.integer(0, incomeRanges.length - 1)
  return {
    gender: known(0.9, gender),
    birth_year: known(0.6, birthYear),
    age: known(0.6, age),
    age_range: rangeOf(age, ageSteps, ageRanges),
    generation:
      generations[bornSince.findIndex((year) => birthYear >= year)] ?? generations.at(-1)!,
    marital_status: known(0.6, random.pick(maritalStatuses)),
    has_children: known(0.6, children > 0),
    children_count: known(0.4, children),
    household_size: known(0.6, adults + children),
    household_income_range: incomeRanges[income]!,
    income_range: known(0.6, incomeRanges[random.integer(0, income)]!),
    net_worth_range: known(0.6, random.pick(netWorthRanges)),
    credit_rating: known(0.4, random.pick(creditRatings)),
    education_level: known(0.6, random.pick(educationLevels)),
    occupation: known(0.6, random.pick(occupations)),
    home_language: known(0.7, random.pick(['en', 'en', 'en', 'es', 'de', 'fr'])),
  }
}

const taste = (random: Random): Values => ({
  interests: random.chance(0.7) ? pickSome(random, interests, 2, 6) : null,
  purchase_categories: random.chance(0.6) ? pickSome(random, purchases, 1, 5) : null,
  is_online_shopper: random.chance(0.7),
  is_investor: random.chance(0.3),
  is_donor: random.chance(0.25),
  is_traveler: random.chance(0.35),
  is_pet_owner: random.chance(0.5),
  vehicle_make: random.chance(0.5) ? random.pick(vehicles) : null,
})
