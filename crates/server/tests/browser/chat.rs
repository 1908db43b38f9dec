//! The chat page: questions, answers as they grow, the keyboard, phones, languages.

use std::net::TcpListener;
use std::time::Duration;

use novelo_engine::limits::QUESTION_BYTES_MAX;

use crate::support::browser::{Browser, DARK, DESK, ENTER, ESCAPE, LARGE_PHONE, Look, PHONE, SHIFT, SPACE, TAB};
use crate::support::models::{Act, Models, words};
use crate::support::{Home, Value, eventually, json, thread, user};
use crate::wire::Wire;
use crate::{
    CONTRAST, RESTS, REWRITES_BY_RULES, SAMPLE, ada_key, answered, ask, asked_for_a_key, chat, enter, key, slowly,
    thread_id, typed, with_model, without_model,
};

const CAPIVARA: &str = "O que é o Clube Capivara?";

#[test]
fn an_answer_is_seen_to_grow() {
    let models = Models::start();
    models.play([slowly(20, 100)]);
    let server = with_model(&models);
    let browser = chat(DESK, &server);
    browser.screenshot("empty");
    assert_eq!(browser.focus(), "question");
    ask(&browser, "When does the Harbour Tea House open?", 1);
    browser.until("document.querySelector('.answer').innerText.includes('word3')");
    assert!(!browser.text(".answer").contains("word20"));
    assert!(browser.shows("#stop") && !browser.shows("#welcome"));
    browser.press("next");
    browser.press(ENTER);
    assert_eq!(typed(&browser), "next", "the box can be used, and sending waits");
    browser.screenshot("streaming");
    browser.until(RESTS);
    assert!(browser.text(".answer").starts_with("word1 word2 ") && browser.text(".answer").ends_with("word20"));
    assert!(browser.text("#status").contains("word20"), "a screen reader gets the whole text once");
    assert_eq!(browser.see("document.querySelector('.answer').ariaLive"), "off");
    assert!(browser.text(".foot").contains("of 24,000 tokens") && browser.text(".foot").contains("answered by tiny"));
    assert!(!browser.shows("#stop"));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_follow_up_is_shown_as_it_was_understood() {
    let server = without_model();
    let browser = chat(DESK, &server);
    browser.click("#welcome .example");
    browser.until("document.querySelector('.then .example')");
    assert!(browser.text(".answer").contains("programa de fidelidade"), "{}", browser.text(".answer"));
    assert!(!browser.shows(".understood"), "a first question stands as it was asked");
    browser.click(".then .example");
    browser.until("document.querySelectorAll('.exchange .answer').length === 2");
    browser.until(RESTS);
    let understood = browser.text(".understood");
    assert!(understood.contains("Clube Capivara") && understood.ends_with("by rules"), "{understood}");
    assert!(browser.text(".answer").contains("cinco níveis"), "{}", browser.text(".answer"));
    browser.screenshot("follow-up");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_question_that_a_model_understood_says_so() {
    let models = Models::start();
    models.play([Act::says(&["A club."]), Act::says(&["How many levels does the club have?"]), Act::says(&["Five."])]);
    let [answer] = models.settings();
    let server = Home::new().serve_with(&[SAMPLE, answer]);
    let browser = chat(DESK, &server);
    answered(&browser, CAPIVARA, 1);
    answered(&browser, "how many levels?", 2);
    let understood = browser.text(".understood");
    assert!(understood.contains("How many levels does the club have?"), "{understood}");
    assert!(understood.ends_with("by the model"), "{understood}");
    assert_eq!(browser.text(".answer"), "Five.");
}

#[test]
fn a_conversation_has_an_address() {
    let server = without_model();
    let browser = chat(DESK, &server);
    let first = thread_id(&browser);
    assert_eq!(uuid::Uuid::parse_str(&first).unwrap().get_version_num(), 4);
    assert_eq!(browser.see("location.hash"), "", "nothing was asked yet");
    answered(&browser, CAPIVARA, 1);
    let answer = browser.text(".answer");
    assert_eq!(server.said("anonymous", &first).first().map(String::as_str), Some(CAPIVARA));
    assert_eq!(browser.see("location.hash"), format!("#thread={first}"));

    browser.reload();
    browser.until("document.querySelectorAll('.exchange .answer').length === 1");
    assert_eq!(thread_id(&browser), first);
    assert_eq!((browser.text(".question"), browser.text(".answer")), (CAPIVARA.to_owned(), answer));
    assert!(!browser.shows("#welcome"));
    browser.screenshot("shown-again");
    answered(&browser, "quantos níveis ele tem?", 2);
    assert!(browser.text(".understood").contains("Clube Capivara"), "the conversation goes on");

    browser.click("#fresh");
    assert!(browser.shows("#welcome") && !browser.shows("#export") && thread_id(&browser) != first);
    assert_eq!((browser.see("location.hash"), browser.focus()), (json!(""), "question".to_owned()));
    browser.run(&format!("location.hash = 'thread={first}'"));
    browser.until("document.querySelectorAll('.exchange .answer').length === 2");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn an_address_shows_nothing_to_another_user() {
    let server = without_model();
    let (ada, bob) = (ada_key(&server), key(&server, json!({"user": "bob"})));
    ada.client.post("/api/ask", json!({"question": "What does Ada drink?", "thread_id": "t"})).ok();
    let browser = Browser::open(DESK, server.addr, "/chat#thread=t");
    asked_for_a_key(&browser, "");
    enter(&browser, &bob.secret);
    browser.until("!document.getElementById('logout').hidden");
    browser.until("!document.getElementById('login').open");
    answered(&browser, "Who is there?", 1);
    assert!(!browser.text("body").contains("Ada"), "{}", browser.text("body"));
    browser.click("#logout");
    browser.run("location.hash = 'thread=t'");
    asked_for_a_key(&browser, "");
    enter(&browser, &ada.secret);
    browser.until("document.querySelector('.exchange .question')?.innerText === 'What does Ada drink?'");
}

#[test]
fn a_conversation_is_exported() {
    let models = Models::start();
    models.play([Act::says(&["Five **levels**."])]);
    let server = with_model(&models);
    let browser = chat(DESK, &server);
    assert!(!browser.shows("#export"));
    // What a click would save is looked at before it becomes a file.
    browser.run(
        "const url = URL.createObjectURL; window.saved = [];
         URL.createObjectURL = (blob) => { blob.text().then((text) => window.saved.push(text)); return url.call(URL, blob); };",
    );
    answered(&browser, "How many levels?", 1);
    let thread = thread_id(&browser);
    browser.click("#export [data-format=md]");
    browser.until("window.saved.length === 1");
    let markdown = browser.see("window.saved[0]");
    let markdown = markdown.as_str().unwrap();
    assert!(markdown.starts_with("# Novelo, "), "{markdown}");
    assert!(markdown.ends_with("**You asked:**\n\n> How many levels?\n\nFive **levels**.\n"), "{markdown}");
    browser.click("#export [data-format=json]");
    browser.until("window.saved.length === 2");
    let saved: Value = serde_json::from_str(browser.see("window.saved[1]").as_str().unwrap()).unwrap();
    assert_eq!(saved["thread_id"], json!(thread));
    assert_eq!(saved["turns"], server.get(&crate::support::thread("anonymous", &thread, "/turns")).ok()["turns"]);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn numbers_in_an_answer_lead_to_their_sources() {
    let models = Models::start();
    models.play([Act::says(&["At nine [1], not at `a[1]` nor [99]."])]);
    let server = with_model(&models);
    let browser = chat(LARGE_PHONE, &server);
    answered(&browser, "When does the Harbour Tea House open?", 1);
    assert_eq!(browser.see("document.querySelectorAll('.answer .cite').length"), 1, "code and unknown numbers stay");
    assert_eq!(browser.text(".answer"), "At nine [1], not at a[1] nor [99].");
    browser.run("document.querySelector('.answer .cite').focus()");
    browser.press(ENTER);
    browser.until("document.querySelector('.sources details').open");
    browser.until("document.activeElement.dataset.n === '1'");
    browser.until(IS_UNCOVERED);
    browser.screenshot("cited");
}

/// The first source can be seen: nothing stands before it.
const IS_UNCOVERED: &str = "(() => {
    const head = document.querySelector('.sources li .head').getBoundingClientRect();
    const seen = document.elementFromPoint(head.left + 5, head.top + head.height / 2);
    return Boolean(seen?.closest('.sources'));
})()";

#[test]
fn sources_open_where_they_can_be_seen() {
    for look in [DESK, LARGE_PHONE, PHONE] {
        let server = without_model();
        let browser = chat(look, &server);
        answered(&browser, "When does the Harbour Tea House open?", 1);
        browser.run("scrollTo(0, document.documentElement.scrollHeight)");
        browser.click(".sources summary");
        browser.until(IS_UNCOVERED);
        let is_wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth";
        assert_eq!(browser.see(is_wide), false, "{}", look.width);
        browser.screenshot(&format!("sources-{}", look.width));
    }
}

#[test]
fn a_question_is_tried_again_after_a_dead_model() {
    let models = Models::start();
    models.otherwise(Act::Status(401, json!({"error": {"message": "bad key"}}).to_string()));
    let server = with_model(&models);
    let browser = chat(DESK, &server);
    answered(&browser, "When does the Harbour Tea House open?", 1);
    assert_eq!(browser.text(".retry button"), "Try again");
    let is_clear = "const { bottom } = document.querySelector('.retry button').getBoundingClientRect(); \
        return bottom <= document.getElementById('question').getBoundingClientRect().top";
    assert_eq!(browser.run(is_clear), json!(true), "the input does not hide it");
    browser.screenshot("try-again");
    models.otherwise(Act::says(&["At nine."]));
    browser.run("document.getElementById('question').value = 'typed since'");
    browser.run("document.querySelector('.retry button').focus()");
    browser.press(ENTER);
    browser.until("document.querySelectorAll('.exchange .answer').length === 2");
    browser.until(RESTS);
    assert_eq!(browser.text(".answer"), "At nine.");
    assert_eq!(browser.text(".question"), "When does the Harbour Tea House open?");
    assert!(!browser.shows(".retry"), "it went well");
    assert_eq!(typed(&browser), "typed since");
}

#[test]
fn without_a_model_the_passages_answer() {
    let server = without_model();
    let browser = chat(DESK, &server);
    answered(&browser, "When does the Harbour Tea House open?", 1);
    assert!(browser.text(".answer").contains("nine in the morning"), "{}", browser.text(".answer"));
    assert_eq!(browser.text(".note"), "No model is configured. These are the passages that fit best.");
    assert!(browser.text(".foot").contains("answered from the passages"));
    browser.click(".sources summary");
    let source = browser.text(".sources li:first-child");
    assert!(source.contains("Harbour Tea House") && source.contains("score "), "{source}");
    let (used, budget) =
        (browser.see("document.querySelector('meter').value"), browser.see("document.querySelector('meter').max"));
    assert!(used.as_f64() > Some(0.0) && used.as_f64() < budget.as_f64(), "{used} of {budget}");
    browser.screenshot("no-model");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_model_that_dies_twice_leaves_what_it_said() {
    let models = Models::start();
    models.play([Act::DiesAfter(3, words(&["It ", "opens ", "at ", "nine."])), Act::Status(500, String::new())]);
    let server = with_model(&models);
    let browser = chat(DESK, &server);
    answered(&browser, "When does the Harbour Tea House open?", 1);
    assert_eq!(browser.text(".answer"), "It opens at");
    assert!(browser.text(".note").starts_with("The model broke off before the end."), "{}", browser.text(".note"));
    assert_eq!(typed(&browser), "");
    browser.screenshot("model-down");
    let stored = server.get(&thread("anonymous", &thread_id(&browser), "/turns?last=1")).ok();
    assert_eq!(stored["turns"][0]["message"]["partial"], "model_failed");
}

#[test]
fn a_model_that_dies_is_asked_again_and_what_it_said_goes() {
    let models = Models::start();
    let whole = Act::Slowly(Duration::from_millis(1_500), words(&["The house opens at ten."]));
    models.play([Act::DiesAfter(2, words(&["It opens at nine.\n\n", "Or was it"])), whole]);
    let server = with_model(&models);
    let browser = chat(DESK, &server);
    ask(&browser, "When does the Harbour Tea House open?", 1);
    browser.until("document.querySelector('.answer').innerText.includes('Or was it')");
    browser.until("document.querySelector('.answer').innerText === 'The house opens at ten.'");
    browser.until(RESTS);
    assert_eq!(browser.text(".answer"), "The house opens at ten.");
    assert_eq!(browser.text(".note"), "The model failed at first, and was asked again.");
    browser.screenshot("asked-again");
    assert_eq!(browser.complaints(), Vec::<String>::new());
    assert_eq!(server.said("anonymous", &thread_id(&browser))[1], "The house opens at ten.");
}

#[test]
fn a_model_that_is_not_there_is_told_of() {
    let models = Models::start();
    models.otherwise(Act::Status(401, json!({"error": {"message": "bad key"}}).to_string()));
    let server = with_model(&models);
    let browser = chat(DESK, &server);
    answered(&browser, "When does the Harbour Tea House open?", 1);
    assert!(browser.text(".answer").contains("nine in the morning"));
    assert!(browser.text(".note").starts_with("The model did not answer."), "{}", browser.text(".note"));
}

#[test]
fn an_answer_can_be_stopped() {
    let models = Models::start();
    models.play([slowly(600, 100)]);
    let server = with_model(&models);
    let browser = chat(DESK, &server);
    ask(&browser, "Tell me everything", 1);
    browser.until("document.querySelector('.answer').innerText.includes('word3')");
    browser.click("#stop");
    browser.until(RESTS);
    assert!(browser.text(".note").starts_with("You stopped the answer here."));
    assert!(browser.text(".answer").contains("word3") && browser.focus() == "question");
    browser.screenshot("stopped");
    assert!(eventually(|| models.hangups().len() == 1), "the request to the model is cancelled, too");
    answered(&browser, "And then?", 2);
    let turns = server.get(&thread("anonymous", &thread_id(&browser), "/turns")).ok();
    let partial: Vec<_> = turns["turns"].as_array().unwrap().iter().map(|turn| &turn["message"]["partial"]).collect();
    assert_eq!(partial, [&Value::Null, &json!("client_left"), &Value::Null, &Value::Null], "in its place: {turns}");
}

#[test]
fn a_lost_connection_is_made_again() {
    let models = Models::start();
    models.play([slowly(30, 100)]);
    let near = TcpListener::bind("127.0.0.1:0").unwrap();
    let (host, [answer]) = (near.local_addr().unwrap().to_string(), models.settings());
    let server = Home::new().serve_with(&[SAMPLE, answer, REWRITES_BY_RULES, ("NOVELO_HTTP_HOSTS", &host)]);
    let wire = Wire::over(near, server.addr);
    let browser = Browser::open(DESK, wire.addr, "/chat");
    browser.until("document.getElementById('thread_id').value");
    ask(&browser, "Tell me everything", 1);
    for seen in ["word3", "word12"] {
        browser.until(&format!("document.querySelector('.answer').innerText.includes('{seen}')"));
        wire.cut();
    }
    browser.until(RESTS);
    let expected: Vec<String> = (1..=30).map(|n| format!("word{n}")).collect();
    assert_eq!(browser.text(".answer"), expected.join(" "));
    assert!(!browser.shows(".note, .trouble"));
}

#[test]
fn a_server_that_is_gone_loses_no_question() {
    let server = without_model();
    let browser = chat(DESK, &server);
    server.kill();
    browser.press(&format!("Are you there?{ENTER}"));
    browser.until("!document.getElementById('trouble').hidden");
    assert!(browser.text("#trouble").starts_with("The server does not answer."));
    assert_eq!((typed(&browser), browser.focus()), (json!("Are you there?"), "question".to_owned()));
    browser.screenshot("server-gone");
}

#[test]
fn a_refused_question_comes_back_with_the_reason() {
    let server = without_model();
    let browser = chat(DESK, &server);
    browser.run(&format!("document.getElementById('question').value = 'x'.repeat({})", QUESTION_BYTES_MAX + 1));
    browser.press(ENTER);
    browser.until("!document.getElementById('trouble').hidden");
    assert!(browser.text("#trouble").contains("QUESTION_BYTES_MAX"), "{}", browser.text("#trouble"));
    assert_eq!(browser.see("document.getElementById('question').value.length"), QUESTION_BYTES_MAX + 1);
}

#[test]
fn the_keyboard_is_enough() {
    let models = Models::start();
    models.play([slowly(600, 100), Act::says(&["Done."])]);
    let server = with_model(&models);
    let browser = chat(DESK, &server);
    let back_to_the_top = (0..10).any(|_| {
        browser.press(&format!("{SHIFT}{TAB}"));
        browser.see("document.activeElement.className") == "skip"
    });
    assert!(back_to_the_top && browser.shows(".skip:focus-visible"));
    browser.press(ENTER);
    assert_eq!(browser.focus(), "question");
    browser.press(&format!("one{SHIFT}{ENTER}two"));
    assert_eq!(typed(&browser), "one\ntwo");
    browser.press(ENTER);
    browser.until("document.querySelector('.answer')?.innerText.includes('word2')");
    assert_eq!(browser.text(".question"), "one\ntwo");
    browser.press(ESCAPE);
    browser.until(RESTS);
    assert_eq!(browser.focus(), "question");
    browser.press(&format!("x{TAB}"));
    assert_eq!(browser.focus(), "send");
    browser.press(SPACE);
    browser.until("document.querySelectorAll('.exchange .answer').length === 2");
    browser.until(RESTS);
    assert_eq!(browser.text(".answer"), "Done.");
}

#[test]
fn whatever_is_said_stays_text() {
    let evil = "<img src=x onerror=\"document.title='evil'\"><script>document.title='evil'</script>";
    let models = Models::start();
    let code = format!("{evil} **bold** `{evil}`\n\n- {evil}\n\n```\n{evil}\n```");
    models.play([Act::says(&[&code])]);
    let server = with_model(&models);
    server.post(&user("anonymous", "/documents"), json!({"name": evil, "text": format!("evil onerror {evil}")})).ok();
    let browser = chat(DESK, &server);
    answered(&browser, &format!("evil onerror {evil}"), 1);
    browser.click(".sources summary");
    assert_eq!(browser.see("document.querySelectorAll('#log img, #log script').length"), 0);
    assert_eq!(browser.text(".question"), format!("evil onerror {evil}"));
    assert_eq!(browser.text(".answer pre"), evil);
    assert_eq!((browser.text(".answer strong"), browser.text(".answer code")), ("bold".to_owned(), evil.to_owned()));
    assert_eq!(browser.see("document.title"), "Novelo: chat");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_text_that_grows_ends_as_if_it_had_come_at_once() {
    let server = without_model();
    let browser = chat(DESK, &server);
    let text = "# Tea\nfirst\nsecond `x` **y**\n\n1. one\n   goes on\n   - inner\n2. two\n- other\n\n> said\n> more\nend\n\n\
                ```rs\nfn a() {}\n\n- no list\n```\n2*3*4 and `open";
    let script = "const { Text } = await import('/assets/text.js');
        const [whole, grown] = [document.createElement('div'), document.createElement('div')];
        const [a, b] = [new Text(whole), new Text(grown)];
        a.add(TEXT); a.show();
        for (const c of TEXT) { b.add(c); b.show(); }
        return [whole.outerHTML.replaceAll(' dir=\"auto\"', ''), grown.outerHTML === whole.outerHTML];";
    let seen =
        browser.run(&format!("return (async () => {{ {} }})()", script.replace("TEXT", &json!(text).to_string())));
    assert_eq!(
        seen[0],
        "<div><h3>Tea</h3><p>first\nsecond <code>x</code> <strong>y</strong></p>\
         <ol start=\"1\"><li>one\ngoes on<ul><li>inner</li></ul></li><li>two</li></ol><ul><li>other</li></ul>\
         <blockquote>said\nmore</blockquote><p>end</p>\
         <pre tabindex=\"0\"><code>fn a() {}\n\n- no list</code></pre><p>2*3*4 and `open</p></div>"
    );
    assert_eq!(seen[1], true);
}

#[test]
fn a_phone_of_320_px_never_scrolls_sideways() {
    let models = Models::start();
    let long = format!(
        "{} and `{}`\n\n```\n{}\n```\n\n1. a\n   - b\n",
        "long".repeat(60),
        "code".repeat(60),
        "wide ".repeat(60)
    );
    models.play([Act::says(&[&long])]);
    let server = with_model(&models);
    let browser = chat(PHONE, &server);
    let width = || browser.see("document.documentElement.scrollWidth");
    assert_eq!(width(), 320);
    browser.screenshot("phone-empty");
    answered(&browser, &format!("What is the Harbour Tea House? {}", "x".repeat(80)), 1);
    browser.click(".sources summary");
    assert_eq!(width(), 320);
    browser.screenshot("phone");
    let size = browser.see("parseFloat(getComputedStyle(document.getElementById('question')).fontSize)");
    assert!(size.as_f64() >= Some(16.0), "a phone would zoom in at {size}");
    browser.run("document.getElementById('login').showModal()");
    assert_eq!(width(), 320);
}

#[test]
fn text_can_be_read_in_both_schemes() {
    let server = without_model();
    for (look, name) in [(DESK, "light"), (DARK, "dark")] {
        let browser = chat(look, &server);
        let mut lowest = vec![browser.run(CONTRAST)];
        browser.click("#welcome .example");
        browser.until("document.querySelector('.then .example')");
        browser.click(".then .example");
        browser.until("document.querySelectorAll('.exchange .answer').length === 2");
        browser.until(RESTS);
        browser.click("article:last-child .sources summary");
        browser.screenshot(name);
        lowest.push(browser.run(CONTRAST));
        browser.run("document.getElementById('trouble').textContent = 'words'; document.getElementById('trouble').hidden = false");
        lowest.push(browser.run(CONTRAST));
        for row in lowest {
            assert!(row[0].as_f64() >= Some(4.5), "{name}: {row}");
        }
    }
}

#[test]
fn the_page_speaks_the_readers_language() {
    let server = without_model();
    let speaks = |language: &'static str, title: &str, note: &str| {
        let browser = chat(Look { language, ..DESK }, &server);
        assert_eq!(browser.text("#welcome h2"), title);
        answered(&browser, CAPIVARA, 1);
        assert!(browser.text(".note").starts_with(note), "{}", browser.text(".note"));
        browser.screenshot(language);
    };
    speaks("pt-BR", "Pergunte aos seus documentos", "Nenhum modelo está configurado.");
    speaks("ru-RU", "Спросите свои документы", "Модель не настроена.");
    speaks("de-DE", "Ask your documents", "No model is configured.");
}
