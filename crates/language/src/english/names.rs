//! Given names, by the people they are given to. They tell people from things and men from women; a name that
//! is not here is found by its capital and fits both.

use crate::syntax::Class;
use crate::window::holds;

pub(crate) const GIVEN_NAMES: &[(Class, &str)] = &[(Class::MAN, MEN), (Class::WOMAN, WOMEN)];

const MEN: &str = "
    sam alex pat jamie casey
    aaron adam adrian al alan albert alex alexander alfred allen andre andrew andy angelo anthony antonio arthur austin
    barry ben benjamin bernard bill billy bob bobby brad bradley brandon brian bruce bryan caleb calvin carl carlos
    charles charlie chris christian christopher clark colin craig curtis dale dan daniel danny darren dave david dean
    dennis derek diego don donald doug douglas drew dylan eddie edgar eduardo edward edwin eli elijah emmanuel eric
    erik ethan eugene evan felix fernando francis francisco frank fred frederick gabriel gary gavin gene geoff george
    gerald gilbert glenn gordon greg gregory gus harold harry harvey hector henry herbert howard hugh hugo ian isaac
    ivan jack jackson jacob jaime jake james jared jason jay jeff jeffrey jeremy jerome jerry jesse jim jimmy joao joe
    joel joey john johnny jon jonathan jordan jorge jose joseph josh joshua juan julian justin karl keith ken kenneth
    kenny kevin kurt kyle larry lawrence lee leo leon leonard leonardo lewis liam logan louis lucas luis luke manuel
    marc marco marcos marcus mario mark marshall martin marvin mason matt matthew maurice max michael mick miguel mike
    mitchell mohammed nate nathan nathaniel neil nicholas nick noah norman oliver oscar otto owen patrick paul paulo
    pedro pete peter phil philip phillip rafael ralph ramon randy raul ray raymond ricardo rich richard rick ricky rob
    robert roberto rodney roger roland ron ronald ronnie ross roy russell ryan samuel santiago scott sean sebastian
    sergio seth shane shaun shawn simon spencer stanley stephen steve steven stuart ted terry theo theodore thomas tim
    timothy todd tom tommy tony travis trevor troy tyler vernon victor vince vincent wade walter warren wayne wesley
    will william willie zach zachary zak
";

const WOMEN: &str = "
    sam alex pat jamie casey jordan chris
    abby abigail ada adele agnes alexis alice alicia alison alisa allison alyssa amanda amber amelia amy ana andrea
    angela angelina anita ann anna anne annie ariana ashley audrey barbara beatrice becky bella beth betty beverly
    bonnie brenda bridget brittany brooke camila carla carmen carol caroline carolyn carrie cassie catherine cathy
    celia charlotte chelsea cheryl chloe christina christine cindy claire clara claudia colleen connie courtney crystal
    cynthia daisy dana danielle debbie deborah debra denise diana diane donna doris dorothy edith eileen elaine eleanor
    elena elizabeth ella ellen emily emma erica erin esther eva evelyn faith fiona florence frances gabriela gail gina
    gladys gloria grace hailey hannah harriet hazel heather heidi helen holly hope ida irene iris isabel isabella jackie
    jane janet janice jasmine jean jen jenna jennifer jenny jess jessica jill jo joan joanna jodi josephine joyce juana
    judith judy julia juliana julie june karen kara kate katelyn katherine kathleen kathryn kathy katie katy kay kayla
    kelly kim kimberly kristen kristin kristina laura lauren leah lena leslie lillian lily linda lisa liz lois lori
    lorraine louise lucia lucy lydia lynn mabel madison maggie marcia margaret maria mariana marie marilyn marina
    marjorie marlene marsha marta martha mary maureen megan melanie melinda melissa meredith mia michelle mildred
    miranda miriam molly monica nadia nancy naomi natalie natasha nicole nina nora norma olga olivia paige pam pamela
    patricia patty paula pauline peggy penny phyllis rachel rebecca regina renee rhonda rita roberta robin rosa rose
    rosemary ruby ruth sabrina sally samantha sandra sandy sara sarah selena shannon sharon sheila shelby shirley sofia
    sonia sophia sophie stacy stella stephanie sue summer susan suzanne sylvia tamara tammy tanya tara taylor teresa
    tiffany tina tracy valerie vanessa vera veronica vicki victoria violet virginia vivian wanda wendy whitney yolanda
    yvonne zoe
";

/// Whether a folded word is a given name.
pub(crate) fn is_given_name(folded: &str) -> bool {
    holds(MEN, folded) || holds(WOMEN, folded)
}

/// `Petrov` and `Petrova`, `Robert` and `Roberta` are two people.
pub(crate) fn form_of(name: &str, said: &str) -> Option<bool> {
    const MEN_END: [&str; 4] = ["ov", "ev", "in", "yn"];
    let (man, woman) = if name.len() < said.len() { (name, said) } else { (said, name) };
    let is_pair = woman.strip_suffix('a') == Some(man);
    let is_name = MEN_END.iter().any(|end| man.ends_with(end)) || holds(MEN, man) || holds(WOMEN, woman);
    (is_pair && is_name).then_some(false)
}
