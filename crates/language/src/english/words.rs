//! The word tables of English.

use crate::syntax::{Class, Form, Gender, LAST, Pronoun};

pub(crate) const PRONOUNS: &[(&str, Pronoun)] = &[
    ("it", Pronoun { form: Form::Plain, plural: false, gender: None, person: Some(false) }),
    ("its", Pronoun { form: Form::Possessive, plural: false, gender: None, person: Some(false) }),
    ("he him", Pronoun { form: Form::Plain, plural: false, gender: Some(Gender::Man), person: Some(true) }),
    ("his", Pronoun { form: Form::Possessive, plural: false, gender: Some(Gender::Man), person: Some(true) }),
    ("she her", Pronoun { form: Form::Plain, plural: false, gender: Some(Gender::Woman), person: Some(true) }),
    ("hers", Pronoun { form: Form::Possessive, plural: false, gender: Some(Gender::Woman), person: Some(true) }),
    ("they them", Pronoun { form: Form::Plain, plural: true, gender: None, person: None }),
    ("their theirs", Pronoun { form: Form::Possessive, plural: true, gender: None, person: None }),
];

pub(crate) const ORDINALS: &[(&str, usize)] =
    &[("first former", 0), ("second", 1), ("third", 2), ("fourth", 3), ("last latter", LAST)];

pub(crate) const CLASSES: &[(Class, &str)] = &[
    (Class::DEFINITE, "the"),
    (Class::INDEFINITE, "a an any some another no every each all many much several few more most both either one two three"),
    (Class::MY, "my our"),
    (Class::YOUR, "your"),
    (Class::POINTER, "this that these those"),
    (
        Class::PREPOSITION,
        "of in on at to from for with by about into through during before after over under between against among
         around near without within across behind beyond like as than per since until toward towards upon versus vs off
         out up down besides despite via regarding concerning",
    ),
    (Class::ABOUT, "about regarding concerning"),
    (Class::AND, "and &"),
    (Class::OR, "or"),
    (Class::CLAUSE, "and but if when while because that which who where why how so then , ; : - or since whether what"),
    (Class::BE, "is are was were be been being am 's 're 'm"),
    (
        Class::AUXILIARY,
        "do does did has have had will would can could should may might must shall ca wo 'll 'd 've n't don doesn didn
         won can't don't didn't doesn't won't isn't aren't",
    ),
    (Class::ASKING, "what which who whom whose when where why how"),
    (Class::SPEAKER, "i me you we us myself yourself mine yours someone anyone everyone somebody anybody everybody"),
    (
        Class::ADVERB,
        "not also too now just really very so well even still again back here there then soon later ago already always
         never ever often usually sometimes once only instead else first last next right away maybe perhaps actually
         quite rather such than together alone early late currently recently generally originally exactly about more
         most less least out up down off forward ahead though however yet almost nearly probably naturally normally
         long far much other others home",
    ),
    (
        Class::FILLER,
        "yes yeah yep no nope ok okay please thanks oh hey hi hello wait sure great alright fine well actually
         sorry nevermind sir wow good right correct absolutely certainly perfect cool awesome ugh hmm um",
    ),
    (Class::VERB, VERBS),
    (Class::EITHER, EITHER),
    (Class::ADDRESSES, ADDRESSES),
    (Class::ADJECTIVE, ADJECTIVES),
    (Class::RELATIONAL, RELATIONAL),
    (Class::TIME, TIMES),
    (Class::MAN, "dad father daddy papa grandpa grandfather brother son husband uncle nephew boyfriend king man boy guy sir mr"),
    (
        Class::WOMAN,
        "mom mother mommy mum mama grandma grandmother sister daughter wife aunt niece girlfriend queen woman girl lady
         mrs ms miss",
    ),
    (
        Class::PERSON,
        "boss doctor dr friend cousin teacher manager caller president author director actor actress singer artist
         writer scientist player coach founder ceo neighbor colleague colleagues coworker assistant agent lawyer dentist
         plumber sitter babysitter parents kids children family roommate partner inventor composer leader leaders
         colleagues friends students people men women person painter sculptor politician footballer boxer rapper musician
         guitarist drummer bassist pianist poet novelist physicist chemist mathematician philosopher economist engineer
         architect astronomer astronaut soldier emperor senator mayor minister priest activist journalist comedian
         dancer wrestler cricketer swimmer filmmaker producer songwriter conductor biologist botanist explorer captain
         professor historian sprinter golfer racer pilot nurse businessman businesswoman entrepreneur
         playwright screenwriter photographer designer trainer surgeon monk nun bishop pope prince princess duke",
    ),
    (Class::KIND, KINDS),
    (
        Class::WEATHER,
        "rain raining rainy snow snowing snowy hot cold warm cool sunny windy humid freezing cloudy foggy storm stormy
         chilly weather degrees temperature umbrella hail sleet dry wet",
    ),
    (
        Class::EMPTY,
        "way ways time times thing things day days today one ones lot kind sort day minute minutes hour hours people
         person someone something anything nothing everything help information question questions answer more example
         place reason fact idea part sense side end top bottom order case use number term word words phrase concept topic
         subject issue problem difference million billion thousand percent",
    ),
    (Class::PLURAL, "people men women children parents kids police mice feet teeth geese"),
    (Class::ORDINAL, "first second third fourth last former latter"),
    (Class::COLLECTIVE, "group team band family class company club crew committee staff department government"),
    (Class::TITLED, TITLED),
    (Class::ONE, "one ones"),
    (Class::THERE, "there"),
    (Class::PREVIOUS, "previous"),
    (Class::COMPARES, "compare"),
    (Class::WHO, "who"),
    (Class::HOW, "how"),
    (Class::WHAT, "what which"),
    (Class::CHOOSES, "which who what"),
    (Class::ELSE, "else other"),
    (Class::ANYBODY, "someone anyone everyone somebody anybody everybody"),
    (Class::SAYS, "mention mentioned say said says think thinks thought believe believes"),
    (
        Class::WRITES,
        "calling called calls said says wants wrote sent messaged texted thinks told asked asks",
    ),
    (Class::LETTER, "call calls message messages text email voicemail"),
    (Class::DICTATES, "say message tell"),
    (Class::THINKS, "do did forget know think say said mean like see tell remember is be"),
    (Class::CREATES, "make create set add buy get have"),
    // Names from other languages keep their own word for `of`.
    (Class::OF, "of de do da dos das"),
    (Class::AFTER_HEAD, "of"),
    (Class::OWNER, "'s"),
    (Class::COMPLETES, "between from 's that and or"),
    (Class::COMPLETES_NEW, "for"),
    (Class::EXISTS, "there"),
    (Class::IN_PLACE, "in at"),
    (Class::BEFORE_PLACE, "in at to"),
    (Class::NAMES_PLACE, "in to"),
    (Class::PLACE, "city town country island state region village park capital"),
    (Class::WITHIN_NAME, "in on"),
    (Class::WITH, "with to"),
    (Class::FROM_MAKER, "by from with"),
    (Class::BY, "by"),
    (Class::WHOSE, "his her its their"),
    (Class::A, "a an"),
    (Class::THE, "the"),
    (Class::THIS, "this that"),
    (Class::MOST, "most"),
    (Class::EVER, "ever"),
    (Class::TITLE, "mr mrs ms dr st sr sra"),
    (Class::CURRENCY, "r"),
];

const VERBS: &str = "
    accept add affect afford agree allow appear apply arrive ask attend avoid ban be become begin believe belong bring
    build buy called came cancel carry catch choose clean come compare consider contain continue cook create cut decide
    decline define delete depend describe develop die differ discover dislike dismiss eat enjoy ensure enter establish
    evolve exist expect expire explain fall feed feel fight find fix fly follow forget found gain get give go grow
    happen hate have hear hit hold identify ignore improve include increase inform invent invite involve join keep kill
    know known lead learn leave lend let listen live look lose lost made maintain make manage marry mean meet mention
    mix move need notify obtain occur open originate own pay perform pick prefer prepare prevent produce prove provide
    publish put raise read receive recognize recommend recover reduce relate release rely remain remember remind remove
    replace reply require resolve reveal ride rise run save say see seem select sell send separate serve set settle sing
    sit skip sleep solve speak spend spread stand stay stop succeed suffer suggest support survive take talk taught
    teach tell think throw told treat try turn understand visit wait want wear weigh win wish worry write went gone done
    got born built bought brought began begun broke broken chosen chose died drove driven ate eaten fell fallen felt
    fought found flew flown forgot forgotten gave given grew grown heard held kept knew led left lost meant met paid ran
    rose said sang sung sat saw seen sent shot shown slept sold spent spoke spoken stood stuck stolen stole swam taken
    directs directed adopt climb retire divorce defeat conquer invade reign rebel surrender compose portray appoint elect
    assassinate arrest convict imprison injure merge acquire expand shut destroy protect defend explore
    translate perform graduate enroll emigrate migrate adapt inspire celebrate criticize praise nominate
     donate oppose refuse reject accuse admit announce argue confirm deny warn predict
    calculate convert install configure activate deactivate renew submit approve
    taught thought threw thrown told took understood wore worn won wrote written let's hide hang unite
";

const EITHER: &str = "
    answer attack attempt average balance benefit bill block book break call care cause challenge change charge check
    claim close control copy cost cover crash cross damage date deal design display divide dream dress drink drive drop
    email end escape estimate exchange experience fear fire focus force form function guess guide harm head heat help
    host impact influence interest invest invite issue joke judge jump kick lack land last launch lie light limit link
    list load look love mail map mark market match matter measure message mind miss name note notice number offer order
    orbit pass park phone pick place plan plant play point power practice present press price print process program
    progress promise protest pull purchase push question race rain rank rate reach record report request research rest
    result return review reward ring risk rock role roll rule rush sail sale scale score search shape share shift ship
    shop show sign skype smell smoke snow sound space stage star start state status step store stream strike study
    style suit supply surprise swim switch talk taste tax test text thank time touch tour track trade train travel trip
    star act collapse debut award demand update upgrade download upload
    trust turn type use value video view visit voice vote wake walk wash watch water wave win wonder work worry
";

/// Verbs that take a person and then something else.
const ADDRESSES: &str = "
    tell ask let text message remind inform show give send buy pick put call notify email invite add answer connect
    telling asking letting texting messaging reminding informing showing giving sending calling notifying
";

const ADJECTIVES: &str = "
    able afraid alive allergic available aware bad best better big black blue broken busy cheap cheaper clear close
    common complete cool correct dangerous dead deep different difficult dirty early easy effective endangered enough
    ethical expensive famous fast fat free frequent full good great green happy hard harmful healthy heavy high huge
    illegal important impossible independent interesting large larger largest late legal likely little long longer
    loud low main major married natural necessary new nice normal old older oldest open poisonous poor popular possible
    powerful quick quiet rare ready real red related rich safe same serious short sick significant similar simple
    small smaller smallest special strong successful sure tall taller tallest thick thin tired true typical unique
    useful valid warm weak wet white wide worse worst worth wrong yellow young younger youngest biggest bigger highest
    lowest longest shortest fastest treatable contagious online offline unavailable recent latest newest key top
    dry hot cold sunny windy humid rainy salty sweet bitter sharp flat loose tight dark bright
    curable genetic hereditary reversible profitable controversial religious political accurate
";

const RELATIONAL: &str = "
    symptom symptoms cause causes effect effects side-effects treatment treatments history origin origins meaning
    definition type types kind kinds sort sorts form forms example examples benefit benefits advantage advantages
    disadvantage disadvantages risk risks pros cons feature features characteristic characteristics function functions
    purpose role importance significance impact impacts influence difference differences similarity similarities
    relationship part parts component components member members author creator founder inventor price prices cost costs
    value size weight height length depth age population capital area location theme themes
    character characters plot ingredient ingredients layer layers stage stages step steps phase phases source sources
    result results outcome outcomes consequence consequences reason reasons rules rule principle principles finding
    findings implication implications application applications use uses version versions model models structure side
    sides end beginning start rest majority number amount percentage rate rates level levels list summary overview
    argument arguments criticism criticisms controversy theory sign signs diagnosis cure prevention complication
    complications alternative alternatives competitor competitors requirement requirements option options method methods
    captain cast director producer crew ending soundtrack budget headquarters reviews response reaction winner score
    mayor owner currency climate economy culture government language anthem flag password deadline fee fees schedule
    warranty deductible coverage premium lifespan lifecycle habitat diet color colour shape speed temperature distance duration limit limits origin
    aspects aspect types species breeds factors factor challenges problems threats drawbacks downsides upsides
";

const TIMES: &str = "
    today tomorrow yesterday tonight morning afternoon evening night noon midnight week weekend month year day monday
    tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays
    january february march april may june july august september october november december am pm now later hour hours
    minute minutes second seconds weeks months years days spring summer autumn fall winter o'clock decade century
";

const KINDS: &str = "
    song songs album albums movie movies film films book books novel series episode game games band group team teams
    artist singer city cities town country countries state place region island company companies organization brand
    product article articles story stories message messages email call calls reminder reminders event meeting
    appointment playlist video videos photo photos restaurant hotel store museum school university college war battle
    disease condition disorder illness animal animals plant plants bird birds fish dog dogs cat cats car cars phone
    language religion law treaty theory experiment experiments study studies program plan plans system technology
    software app website drug medicine vitamin mineral element planet star track tune piece poem play show process
    procedure method device machine
";

/// Kinds of things that are called by a name of their own.
const TITLED: &str = "
    song album movie film book novel series game band artist singer track tune city town country island company
    single play opera musical painting ship magazine newspaper show sitcom
    organization brand team museum university college war battle disease disorder treaty restaurant hotel
";

/// Words for the same thing.
pub(crate) const SYNONYMS: [&[&str]; 9] = [
    &["book", "novel"],
    &["film", "movie"],
    &["band", "group"],
    &["album", "record"],
    &["song", "single", "track"],
    &["show", "series", "sitcom"],
    &["company", "firm", "business"],
    &["city", "town"],
    &["ship", "vessel"],
];

/// Verbs that say of what they are, and after `who` may leave it out.
pub(crate) const TRANSITIVE: [&str; 16] = [
    "won",
    "wins",
    "wrote",
    "directed",
    "produced",
    "founded",
    "invented",
    "discovered",
    "created",
    "built",
    "designed",
    "published",
    "started",
    "lost",
    "composed",
    "recorded",
];

/// Words of everyday things, folded, which titles and names are made of too.
pub(crate) const EVERYDAY: &str = "
    air animal apple arm art autumn baby back bag ball bank bar bath beach bean bear bed bee bell bird
    blood boat boats body bone bottle bowl box boy branch bread breakfast bridge brother building bus
    butter button cake camera camp candle car card cat chair cheese chicken child church circle city clock
    cloth clothes cloud coat coffee coin cold color colour company computer copper corner country cow
    cream cup curtain dance danger dark daughter dawn day death dinner doctor dog door dream dress drink
    dust ear earth east egg evening eye face fair fall family farm father feather field fire fish flag
    floor flower food foot forest friend fruit garden gate girl glass gold grass ground group guest guide
    hair hall hand harbor harbour hat heart heat hill home honey horse hospital hotel hour house ice idea
    island islands jewel job journey juice keeper key king kitchen knife lady lake lamp land language law
    leaf letter life light lighthouse line lion love lunch machine map mark market meal meat metal milk
    mind mirror money month moon morning mother mountain mouse mouth music name names night noise north
    nose ocean office oil orange page paint paper parent park party path pen people piece pig pilot pipe
    place plan plant plate play pocket poem poet point police pool poor post pot power prince princess
    queen rain restaurant rice ring river rivers road rock roof room root rose salt sand school sea season
    secret shade shadow shadows sheep ship shirt shoe shop show sign silence silver sister sky sleep small
    smoke snow soap sock song sound south space spring square stage stair star station stone storm story
    stranger street sugar summer sun supper sweet table tail tea teacher test theater theatre thing time
    town toy track trade train tram travel tree trip voice walk wall war water wave way weather week west
    wheel wind window wine winter winters wolf woman wood word words work world year
";
