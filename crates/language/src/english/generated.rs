//! English words around the texts that models generate.

use crate::syntax::GeneratedWords;

pub const WORDS: GeneratedWords = GeneratedWords {
    labels: "question query rewrite rewritten rephrased reformulated standalone output q summary",
    label_fillers:
        "a an the here s is are this that your my our of as in for sure okay ok certainly course absolutely below
        following would be you and now updated final new running version follow up followup self contained stand alone
        independent user original conversation previous context so far it could can rewriting",
    refusals: &[
        "i m sorry",
        "i am sorry",
        "sorry",
        "i cannot",
        "i can t",
        "i can not",
        "i m unable",
        "i am unable",
        "i m not able",
        "i am not able",
        "i don t have",
        "i do not have",
        "i don t know",
        "i do not know",
        "i m not sure",
        "i apologize",
        "i need more",
        "as an ai",
        "as a language model",
        "unfortunately",
        "could you clarify",
        "can you clarify",
        "please clarify",
        "could you please clarify",
        "could you please provide",
        "could you provide",
        "can you provide",
        "please provide",
        "there is no",
        "there s no",
        "no conversation",
        "none",
        "n a",
        "null",
    ],
    requests:
        "tell explain describe list compare show give name summarize summarise define find recommend suggest write
        translate calculate convert help remind send call play set add create book schedule cancel delete turn open
        sum elaborate outline discuss identify provide let",
    roles: "user users assistant human ai speaker person customer",
    abbreviations: "mr mrs ms dr prof st jr sr vs etc e.g i.e inc ltd no fig approx",
};

/// Words of decisions, plans and lasting facts, folded.
pub(crate) const FACTS: &str = "
    decide decided agree agreed plan planned planning will want need prefer favorite favourite love hate start started begin
    buy bought sell sold move moves moved live work job born birthday married divorced called named name deadline budget book
    booked finish finished join joined win won lose lost quit adopt adopted allergic must promise promised goal sign signed
    order ordered open opened launch launched version fix fixed error choose chose chosen cost price paid owe meet meeting
    appointment travel traveled visit visited study graduate graduated hire hired retire daughter son wife husband mother father
    sister brother dog cat diagnosed
";

/// Words and phrases of goals, rules and limits, folded.
pub(super) const BINDING: &str = "
    must, must not, never, always, do not, don t, cannot, can t, may not, should not, shouldn t, make sure, be sure to,
    goal, goals, objective, aim is, deadline, constraint, constraints, requirement, requirements, required, limit, limited,
    at most, at least, no more than, no less than, no later than, under no circumstances, without exception, only use,
    avoid, forbidden, not allowed, from now on, keep in mind, remember that, remember to, insist, rule, rules, policy,
    allergic, prefer, prefers, preference, important that, has to, have to, needs to, need to, budget
";

/// Words that deny, beside the negations among the stop words; folded.
pub(super) const DENIALS: &str =
    "never none nothing nobody neither without cannot ain mustn needn refuse refused refuses";
