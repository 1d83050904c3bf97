// JSON to values. Its depth is limited by the reader.
#include "text/jinja/json_value.h"

#include "base/json.h"

namespace plait::jinja {

Value value_from_json(Machine& machine, const nlohmann::ordered_json& json) {
  using Type = nlohmann::ordered_json::value_t;
  switch (json.type()) {
    case Type::boolean:
      return Value::boolean(json.get<bool>());
    case Type::number_integer:
      return Value::integer(json.get<std::int64_t>());
    case Type::number_unsigned: {
      const std::uint64_t number = json.get<std::uint64_t>();
      if (number > static_cast<std::uint64_t>(INT64_MAX)) return machine.fail("an integer is too large");
      return Value::integer(static_cast<std::int64_t>(number));
    }
    case Type::number_float:
      return Value::real(json.get<double>());
    case Type::string:
      return machine.string(json.get_ref<const std::string&>());
    case Type::array: {
      std::vector<Value> items;
      for (const auto& entry : json) items.push_back(value_from_json(machine, entry));
      return machine.list(std::move(items));
    }
    case Type::object: {
      Value result = machine.dict();
      for (const auto& [key, value] : json.items())
        result.as<Dict>().set(machine.string(key), value_from_json(machine, value));
      return result;
    }
    default:
      return Value::none();
  }
}

Value from_json_text(Machine& machine, std::string_view text) {
  const auto json = parse_json(text);
  return json ? value_from_json(machine, *json) : machine.fail(json.error().message);
}

}  // namespace plait::jinja
