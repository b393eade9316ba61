#include "frontend/builder/var.h"

#include "frontend/builder/recorder.h"

namespace cellfuse::build {

namespace {

Var binary(Op op, const Argument& a, const Argument& b, bool product = false) {
  const std::shared_ptr<Recorder> recorder = recorder_of({a, b});
  ast::Chain chain{recorder->expression(a), {}};
  chain.rest.push_back({op, recorder->span(a.where), recorder->expression(b), product});
  return recorder->emit(recorder, std::move(chain), a.where);
}

Var unary(Op op, const Argument& a) {
  const std::shared_ptr<Recorder> recorder = recorder_of({a});
  return recorder->emit(recorder, ast::Unary{op, recorder->expression(a)}, a.where);
}

ast::Subscript subscript_of(Recorder& recorder, const Var::Subscript& subscript) {
  using Kind = Var::Subscript::Kind;
  ast::Subscript result;
  result.span = recorder.span(subscript.where);
  if (subscript.kind == Kind::NewAxis) result.kind = ast::Subscript::Kind::NewAxis;
  if (subscript.kind == Kind::All || subscript.kind == Kind::Range) result.kind = ast::Subscript::Kind::Range;
  if (subscript.begin) result.begin = recorder.expression(*subscript.begin);
  if (subscript.end) result.end = recorder.expression(*subscript.end);
  return result;
}

Var subscripted(const Var& base, const std::vector<const Var::Subscript*>& subscripts) {
  const std::shared_ptr<Recorder>& recorder = base.recorder();
  const std::source_location where = subscripts.front()->where;
  ast::Index index{recorder->expression(Argument(base, where)), {}};
  for (const Var::Subscript* subscript : subscripts) index.subscripts.push_back(subscript_of(*recorder, *subscript));
  return recorder->emit(recorder, std::move(index), where);
}

}  // namespace

Var Var::as(const std::string& name, std::source_location where) const {
  const ast::Identifier identifier = recorder_->identifier(name, where);
  return recorder_->define(recorder_, identifier.name, recorder_->expression(Argument(*this, where)), where);
}

Var Var::operator()(const Subscript& first) const { return subscripted(*this, {&first}); }
Var Var::operator()(const Subscript& first, const Subscript& second) const {
  return subscripted(*this, {&first, &second});
}

Var call(const std::string& function, const std::vector<Argument>& arguments) {
  const std::shared_ptr<Recorder> recorder = recorder_of(arguments);
  const std::source_location where = arguments.front().where;
  ast::Call call{{function, recorder->span(where)}, {}};
  for (const Argument& argument : arguments) {
    call.arguments.push_back({{argument.keyword, recorder->span(argument.where)}, recorder->expression(argument)});
  }
  return recorder->emit(recorder, std::move(call), where);
}

Var matmul(Argument a, Argument b) { return binary(Op::MatMul, a, b); }
Var multiply(Argument a, Argument b) { return binary(Op::Mul, a, b); }
Var operator*(Argument a, Argument b) { return binary(Op::Mul, a, b, true); }
Var operator+(Argument a, Argument b) { return binary(Op::Add, a, b); }
Var operator-(Argument a, Argument b) { return binary(Op::Sub, a, b); }
Var operator/(Argument a, Argument b) { return binary(Op::Div, a, b); }
Var operator-(Argument a) { return unary(Op::Neg, a); }
Var operator<(Argument a, Argument b) { return binary(Op::Lt, a, b); }
Var operator<=(Argument a, Argument b) { return binary(Op::Le, a, b); }
Var operator>(Argument a, Argument b) { return binary(Op::Gt, a, b); }
Var operator>=(Argument a, Argument b) { return binary(Op::Ge, a, b); }
Var operator==(Argument a, Argument b) { return binary(Op::Eq, a, b); }
Var operator!=(Argument a, Argument b) { return binary(Op::Ne, a, b); }
Var operator&&(Argument a, Argument b) { return binary(Op::And, a, b); }
Var operator||(Argument a, Argument b) { return binary(Op::Or, a, b); }
Var operator!(Argument a) { return unary(Op::Not, a); }

std::vector<Var> split_parts(const Argument& x, std::size_t count) {
  const std::shared_ptr<Recorder> recorder = recorder_of({x});
  const Span span = recorder->span(x.where);
  const Argument parts(count, x.where);
  ast::Call call{{"split", span}, {{{}, recorder->expression(x)}, {{}, recorder->expression(parts)}}};
  ast::Assign assign{{}, std::make_shared<ast::Expression>(ast::Expression{span, std::move(call)})};
  std::vector<Var> result;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = recorder->made_up_name();
    assign.targets.push_back({name, span});
    result.emplace_back(recorder, name);
  }
  recorder->add({span, std::move(assign)});
  return result;
}

}  // namespace cellfuse::build
