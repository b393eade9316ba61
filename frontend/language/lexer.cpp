#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "frontend/language/token.h"
#include "ir/utf8.h"

namespace cellfuse {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct Spelling {
  std::string_view text;
  TokenKind kind;
};

constexpr std::array<Spelling, 23> kSymbols{{
    {"..", TokenKind::DotDot},     {"<=", TokenKind::LessEqual},  {">=", TokenKind::GreaterEqual},
    {"==", TokenKind::EqualEqual}, {"!=", TokenKind::NotEqual},   {"+", TokenKind::Plus},
    {"-", TokenKind::Minus},       {"*", TokenKind::Star},        {"/", TokenKind::Slash},
    {"^", TokenKind::Caret},       {"@", TokenKind::At},          {"<", TokenKind::Less},
    {">", TokenKind::Greater},     {"=", TokenKind::Equal},       {",", TokenKind::Comma},
    {":", TokenKind::Colon},       {";", TokenKind::Semicolon},   {"(", TokenKind::LeftParen},
    {")", TokenKind::RightParen},  {"[", TokenKind::LeftBracket}, {"]", TokenKind::RightBracket},
    {"{", TokenKind::LeftBrace},   {"}", TokenKind::RightBrace},
}};

constexpr std::array<Spelling, 7> kWords{{{"fn", TokenKind::Fn},
                                          {"for", TokenKind::For},
                                          {"return", TokenKind::Return},
                                          {"and", TokenKind::And},
                                          {"or", TokenKind::Or},
                                          {"not", TokenKind::Not},
                                          {"None", TokenKind::None}}};

struct Foreign {
  std::string_view text;
  TokenKind kind;  ///< what it is read as once it is reported
  std::string_view hint;
};

/// Operators of other languages, longest first.
constexpr std::array<Foreign, 12> kForeign{
    {{"**", TokenKind::Caret, "a power is written `a ^ b`"},
     {"//", TokenKind::EndOfFile, "a comment starts with `#`; the whole quotient is `floor(a / b)`"},
     {"&&", TokenKind::And, "write `and`"},
     {"||", TokenKind::Or, "write `or`"},
     {"!", TokenKind::Not, "write `not`"},
     {"&", TokenKind::And, "write `and`"},
     {"|", TokenKind::Or, "write `or`"},
     {"\xC3\x97", TokenKind::Star, "write `*`"},
     {"\xE2\x88\x92", TokenKind::Minus, "write `-`"},
     {"%", TokenKind::Invalid, "the remainder is `mod(a, b)`"},
     {"?", TokenKind::Invalid, "a choice is written `where(condition, a, b)`"},
     {"'", TokenKind::Invalid, "`'` stands right behind the name of a state: `h'`"}}};

const Foreign* find_foreign(std::string_view rest) {
  if (rest.starts_with("!=")) return nullptr;
  const auto* found = std::ranges::find_if(kForeign, [&](const Foreign& f) { return rest.starts_with(f.text); });
  return found == kForeign.end() ? nullptr : found;
}

class Lexer {
 public:
  Lexer(const std::shared_ptr<const Source>& source, Reporter& reporter)
      : source_(source), text_(source->text()), reporter_(reporter) {}

  std::vector<Token> run() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    if (!refuse_binary()) {
      while (skip_blanks(), at_ < text_.size() && !reporter_.full()) read();
    }
    add(TokenKind::EndOfFile, text_.size(), text_.size());
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  Span span(std::size_t begin, std::size_t end) const {
    return {source_, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
  }

  void add(TokenKind kind, std::size_t begin, std::size_t end) {
    tokens_.push_back({kind, std::exchange(first_on_line_, false), static_cast<std::uint32_t>(begin),
                       static_cast<std::uint32_t>(end)});
  }

  /// A text in another encoding would give an error a letter.
  bool refuse_binary() {
    if (text_.starts_with("\xFF\xFE") || text_.starts_with("\xFE\xFF")) {
      reporter_.error(span(0, 2), "the file is in UTF-16", "save it as UTF-8");
      return true;
    }
    const std::size_t nul = text_.find('\0');
    if (nul == std::string_view::npos) return false;
    reporter_.error(span(nul, nul + 1), "the file holds a NUL byte", "a cell is plain text in UTF-8");
    return true;
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        first_on_line_ = true;
        ++at_;
      } else if (c == ' ' || c == '\t' || (c == '\r' && peek(1) == '\n')) {
        ++at_;
      } else if (c == '#') {
        skip_comment();
      } else {
        return;
      }
    }
  }

  void skip_comment() {
    while (at_ < text_.size() && text_[at_] != '\n') {
      const std::size_t length = utf8_length(text_, at_);
      if (length == 0) report_bad_utf8();
      at_ += length;
    }
  }

  /// Reports the ill-formed bytes here, once a run of them.
  void report_bad_utf8() {
    const std::size_t begin = at_;
    const bool surrogate = is_utf8_surrogate(text_, at_);
    while (at_ < text_.size() && utf8_length(text_, at_) == 0) ++at_;
    reporter_.error(span(begin, at_), surrogate ? "a lone surrogate is not valid UTF-8" : "not valid UTF-8",
                    "a cell is plain text in UTF-8");
  }

  void read() {
    const char c = peek();
    if (is_letter(c)) return read_name();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return read_number();
    const std::string_view rest = text_.substr(at_);
    if (const Foreign* foreign = find_foreign(rest)) return read_foreign(*foreign);
    for (const Spelling& symbol : kSymbols) {
      if (!rest.starts_with(symbol.text)) continue;
      add(symbol.kind, at_, at_ + symbol.text.size());
      at_ += symbol.text.size();
      return;
    }
    read_stray();
  }

  void read_foreign(const Foreign& foreign) {
    const std::size_t begin = at_;
    at_ += foreign.text.size();
    reporter_.error(span(begin, at_), "`" + std::string(foreign.text) + "` is not part of the language",
                    std::string(foreign.hint));
    if (foreign.kind != TokenKind::EndOfFile) return add(foreign.kind, begin, at_);
    skip_comment();
  }

  void read_name() {
    const std::size_t begin = at_;
    while (is_letter(peek()) || is_digit(peek())) ++at_;
    if (static_cast<unsigned char>(peek()) >= 0x80 && utf8_length(text_, at_) > 1 &&
        find_foreign(text_.substr(at_)) == nullptr) {
      return report_foreign_name(begin);
    }
    const std::string_view word = text_.substr(begin, at_ - begin);
    const auto* keyword = std::ranges::find(kWords, word, &Spelling::text);
    if (keyword != kWords.end()) return add(keyword->kind, begin, at_);
    const bool primed = peek() == '\'';
    if (primed) ++at_;
    add(primed ? TokenKind::PrimedName : TokenKind::Name, begin, at_);
  }

  /// Digits, fraction, exponent. `0..6` is a number, `..` and a number.
  void read_number() {
    const std::size_t begin = at_;
    while (is_digit(peek())) ++at_;
    if (peek() == '.' && peek(1) != '.') {
      ++at_;
      while (is_digit(peek())) ++at_;
    }
    const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
    if ((peek() == 'e' || peek() == 'E') && is_digit(peek(1 + sign))) {
      at_ += 1 + sign;
      while (is_digit(peek())) ++at_;
    }
    add(TokenKind::Number, begin, at_);
    if (!is_letter(peek())) return;
    const std::size_t suffix = at_;
    while (is_letter(peek()) || is_digit(peek())) ++at_;
    const std::string number(text_.substr(begin, suffix - begin));
    const std::string word(text_.substr(suffix, at_ - suffix));
    reporter_.error(span(begin, at_), "`" + number + word + "` is neither a number nor a name",
                    "a product is written `" + number + " * " + word + "`");
  }

  void read_stray() {
    const std::size_t length = utf8_length(text_, at_);
    if (length == 0) return report_bad_utf8();
    const std::string_view character = text_.substr(at_, length);
    const std::size_t begin = at_;
    if (length == 1) {
      ++at_;
      return report_stray_byte(begin);
    }
    if (character == "\xC2\xA0" || character == "\xEF\xBB\xBF") {
      at_ += length;
      reporter_.error(span(begin, at_),
                      character == "\xC2\xA0" ? "a no-break space" : "a byte order mark inside the file",
                      "only plain spaces and tabs are blank");
      return;
    }
    report_foreign_name(begin);
  }

  void report_stray_byte(std::size_t begin) {
    const char c = text_[begin];
    if (c == '\r') {
      return reporter_.error(span(begin, at_), "a carriage return without a line feed", "lines end with \\n or \\r\\n");
    }
    const bool visible = c > ' ' && c < 0x7F;
    reporter_.error(span(begin, at_),
                    visible ? "`" + std::string(1, c) + "` is not part of the language" : "a control character");
    add(TokenKind::Invalid, begin, at_);
  }

  void report_foreign_name(std::size_t begin) {
    while (at_ < text_.size()) {
      const std::size_t length = utf8_length(text_, at_);
      if (length == 0 || (length == 1 && !is_letter(peek()) && !is_digit(peek()))) break;
      at_ += length;
    }
    reporter_.error(span(begin, at_),
                    "`" + std::string(text_.substr(begin, std::min<std::size_t>(at_ - begin, 80))) + "` is not a name",
                    "names are made of ASCII letters, digits and `_`");
    add(TokenKind::Name, begin, at_);
  }

  std::shared_ptr<const Source> source_;
  std::string_view text_;
  Reporter& reporter_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  bool first_on_line_ = true;
};

}  // namespace

std::string describe(TokenKind kind) {
  for (const Spelling& symbol : kSymbols) {
    if (symbol.kind == kind) return "`" + std::string(symbol.text) + "`";
  }
  for (const Spelling& word : kWords) {
    if (word.kind == kind) return "`" + std::string(word.text) + "`";
  }
  switch (kind) {
    case TokenKind::EndOfFile: return "the end of the file";
    case TokenKind::Name: return "a name";
    case TokenKind::PrimedName: return "a name with `'`";
    default: return "a number";
  }
}

std::vector<Token> tokenize(const std::shared_ptr<const Source>& source, Reporter& reporter) {
  return Lexer(source, reporter).run();
}

}  // namespace cellfuse
