/** Words of `insults.ts`. English; alternatives of regular expressions, lower case. */

/** Nouns that insult the person they are said of. */
export const names =
  'idiots?|morons?|imbeciles?|cretins?|dimwits?|half-?wits?|nitwits?|dumb-?ass(?:es)?|dumm(?:y|ies)|jerks?|scum(?:bags?)?|losers?|bastards?|assholes?|arseholes?|bitch(?:es)?|pricks?|wankers?|twats?|tossers?|prats?|pillocks?|numpt(?:y|ies)|dolts?|dunces?|blockheads?|boneheads?|airheads?|birdbrains?|simpletons?|buffoons?|fools?|brats?|cry-?bab(?:y|ies)|freaks?|creeps?|weirdos?|nutcases?|lunatics?|parasites?|leech(?:es)?|vermin|cowards?|liars?|cheats?|thie(?:f|ves)|snoops?|peasants?|misers?|bums?|whiners?|stupids?|crooks?|hypocrites?|swines?|rascals?|good-for-nothings?';

/** Nouns that insult only when a person is called so: they have a harmless meaning. */
export const things =
  "clowns?|pigs?|cows?|donkeys?|ass(?:es)?|gits?|trash|garbage|rubbish|filth|joke|disgrace|baby|babies|child|beggars?|animals?|rats?|snakes?|monkeys?|nobody|waste of (?:my |our |everyone's )?(?:space|time|air|oxygen|breath)|embarrassments?|shame|burden|failure|toddler|pain in the (?:neck|ass|arse|butt)|hag|muppets?|dope";

/** Adjectives that insult the person they are said of. */
export const traits =
  'stupid|dumb(?:er|est)?|dense|thick|slow(?:er)?|dim|brainless|clueless|pathetic|worthless|useless|incompetent|ignorant|lazy|crazy|insane|nuts|mad|hopeless|pitiful|laughable|disgusting|repulsive|ugly|fat|senile|illiterate|hysterical|paranoid|childish|unbearable|insufferable|annoying|obnoxious|gullible|naive|idiotic|moronic|imbecilic|unhinged|deluded|delusional|demented|retarded|ridiculous|dishonest|greedy|selfish|filthy|good for nothing|so difficult|embarrassing|mentally (?:ill|deficient|challenged)|inferior|primitive|dirty|horrible|disgraceful|slow on the uptake|impossible to deal with|beneath me|beyond help';

/** What makes a trait or a name stronger. */
export const degree =
  '(?:(?:a|an|the|such|so|really|very|just|quite|too|truly|absolutely|absolute|complete|completely|total|totally|utter|utterly|real|right|nothing but|nothing more than|as|rather|pretty|always|simply|plain|being|acting|like|little|old|big|poor|damn|bloody|fucking|stupid|pathetic|lazy|fat|filthy|dumb|ignorant|miserable|cheap|spoiled|gullible|kind of|sort of|a bit|most|inside|unbelievably|incredibly|even|either|obviously|clearly|honestly|my friend|also|still|that|this|biggest|greatest|worst|angry|complete and utter|difficult and|really really),? )*';

/** Words that make a line about a person doubtful when no form decides: only a reader can tell. */
export const doubtful =
  'brains?|brainpower|head|iq|intelligence|intelligent|common sense|manners|attitude|tongue|mouth|accent|stink|stinks|smell|lie|lies|lied|hate|hates|pity|pities|despise|ashamed|shame|deserves?|regret|blame|fault|whin(?:e|es|ing)|cry|crying|moan|moaning|bother|bothering|annoys?|hell|damn|die|kill|laughs?|raised you|rather talk|genius|einstein|congratulations|well done|child|toddler|grandmother|animal|cage|asylum|traffic|typical|people like|worth|waste|drunk|drinking|medication|pills|ill|sick|insane|crap|angry|rude|wrong with|even you|even a|even my|clever(?:er)?|smart(?:er)?|bright|dress yourself|yesterday|clue|foreigners?|out of your|thinking|lack|lacks|nobody|no one|whoever|wonder|surprised|get lost|grow up|empty|tiny|horrible|awful|terrible|garbage|failed|draw you|picture';
